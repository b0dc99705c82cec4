import { idp } from '../utils/idp.js'

export default idp.plugin
