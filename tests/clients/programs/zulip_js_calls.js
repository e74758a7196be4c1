// Run by Node with npm's `zulip-js`: calls it as lines of JSON ask, and prints the answers.
// A line is [path of a function, its arguments]; the path "listen" is callOnEachEvent, which prints each event.
const readline = require('node:readline')
const zulip = require('zulip-js')

const print = (value) => console.log(JSON.stringify(value))

async function main() {
  const client = await zulip(JSON.parse(process.argv[2]))
  print({ key: client.config.apiKey })
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [path, args] = JSON.parse(line)
    if (path === 'listen') {
      client.callOnEachEvent((event) => print({ event }), ...args)
      continue
    }
    try {
      print(await path.split('.').reduce((it, name) => it[name], client)(...args))
    } catch (error) {
      print({ result: 'exception', msg: String(error) })
    }
  }
}

main()
