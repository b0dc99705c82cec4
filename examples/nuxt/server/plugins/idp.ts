export default idp.plugin
