// node run-group.mjs <group> <rounds> <milliseconds>: measures one group in this process and prints its tables as JSON.
const [group, rounds, milliseconds] = process.argv.slice(2)
// The output is JSON: products must not write to it.
for (const name of ['debug', 'info', 'log', 'warn']) console[name] = () => {}
const { measure } = await import(`./groups/${group}.mjs`)
const tables = await measure({ rounds: Number(rounds), milliseconds: Number(milliseconds) })
process.stdout.write(JSON.stringify(tables), () => process.exit())
