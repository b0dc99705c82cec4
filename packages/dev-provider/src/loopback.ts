/** Names and addresses that never leave the machine. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase()
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '[::1]' ||
    name === '::1' ||
    /^127(\.\d{1,3}){3}$/.test(name)
  )
}

/** An http or https URL on this machine. */
export function isLoopbackUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return (protocol === 'http:' || protocol === 'https:') && isLoopbackHost(hostname)
}
