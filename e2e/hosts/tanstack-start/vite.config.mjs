import { tanstackStart } from '@tanstack/react-start/plugin/vite'
import react from '@vitejs/plugin-react'

export default { base: process.env.CONTRACT_BASE_PATH, plugins: [tanstackStart(), react()] }
