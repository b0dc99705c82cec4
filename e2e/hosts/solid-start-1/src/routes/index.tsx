export default () => <p>home</p>
