import { idp } from './idp'

export default idp.plugin
