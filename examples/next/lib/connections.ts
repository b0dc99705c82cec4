/** The providers at which users of this site can connect an account. */
export const connections = [
  { name: 'github', label: 'GitHub', scope: 'repo' },
  { name: 'google-oauth2', label: 'Google', scope: 'calendar.read' },
] as const

export function connectionLabel(name: string): string {
  return connections.find((connection) => connection.name === name)?.label ?? name
}
