export default {
  basename: process.env.CONTRACT_BASE_PATH ?? '/',
  future: { v8_middleware: true },
}
