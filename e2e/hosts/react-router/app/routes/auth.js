export { action, loader } from 'idp-client/react-router'
