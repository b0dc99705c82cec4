// node --expose-gc run-group.mjs <group> <effort as JSON>: measures one group in this process and prints its tables as JSON.
const [group, effort] = process.argv.slice(2)
// The output is JSON: products must not write to it.
for (const name of ['debug', 'info', 'log', 'warn']) console[name] = () => {}
const { measure } = await import(`./groups/${group}.mjs`)
const tables = await measure(JSON.parse(effort))
process.stdout.write(JSON.stringify(tables), () => process.exit())
