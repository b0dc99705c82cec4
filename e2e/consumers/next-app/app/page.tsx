export default function Home() {
  return <p>public</p>
}
