// Run by Node with npm's `zulip` 0.1.0, which Hubot's adapter is made of: registers as the adapter does, prints what it
// emits, and sends what lines of JSON ask it to.
const readline = require('node:readline')
const { Client } = require('zulip')

const print = (value) => console.log(JSON.stringify(value))
const client = new Client({ ...JSON.parse(process.argv[2]), client_name: 'Hubot', verbose: false })

client.on('registered', (answer) => print({ registered: answer.queue_id }))
client.on('message', (message) => print({ message }))
client.registerEventQueue({ event_types: ['message'], all_public_streams: true })
readline.createInterface({ input: process.stdin }).on('line', (line) =>
  client.sendMessage(JSON.parse(line), (error, answer) => print({ sent: answer, error: error && error.message })),
)
