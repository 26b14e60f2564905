// A page that shows a backlog and lets somebody run its next task: node examples/dashboard.mjs [folder] [port]
import { createServer } from 'node:http'
import { openHistory, openProject, run } from 'ralph-tasks'

const [folder = '.', port = '4000', agent] = process.argv.slice(2)
const escape = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
const listeners = new Set()
let running = null

async function page() {
  const project = await openProject(folder)
  const { counts, next, states } = project.selection
  const done = await openHistory(project).completions()
  const row = ({ task, eligible }) =>
    `<tr><td>${escape(task.id)}<td>${escape(task.title)}<td>${eligible ? 'can be done' : escape(task.status)}`
  const item = ({ id, title, milestone, usage }) =>
    `<li>${escape(id)} ${escape(title)} (${escape(milestone ?? 'no milestone')}, $${usage.costUsd ?? 0})`
  return `<!doctype html><meta charset="utf-8"><title>Backlog</title>
<h1>${counts.DONE} of ${states.length} done</h1>
<p>Next: ${next ? escape(`${next.id} ${next.title}`) : 'nothing'}
<form method="post"><button formaction="/run">Run it</button><button formaction="/stop">Stop</button></form>
<pre id="events"></pre><table>${states.map(row).join('\n')}</table>
<h2>Done</h2><ul>${done.map(item).join('\n')}</ul>
<script>new EventSource('/events').onmessage = ({ data }) => { events.textContent += data + '\\n' }</script>`
}

async function start() {
  const tell = (what) => listeners.forEach((send) => send(JSON.stringify(what)))
  try {
    running = run(await openProject(folder), agent ? { agent } : {})
    for await (const event of running) tell(event)
  } catch ({ message }) {
    tell({ type: 'error', message })
  }
  running = null
}

const routes = {
  'GET /': async (_, response) => response.setHeader('content-type', 'text/html').end(await page()),
  'GET /events': (_, response) => {
    const send = (text) => response.write(`data: ${text}\n\n`)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    listeners.add(send)
    response.on('close', () => listeners.delete(send))
  },
  'POST /run': (_, response) => response.writeHead(303, { location: '/' }).end(void (running || start())),
  'POST /stop': (_, response) => response.writeHead(303, { location: '/' }).end(void running?.stop()),
}
const server = createServer(async (request, response) => {
  // A page of somebody else's, open in the same browser, must not start anything here.
  const isOwn = [undefined, `http://${request.headers.host}`].includes(request.headers.origin)
  const isLocal = /^(localhost|127\.0\.0\.1):\d+$/.test(request.headers.host ?? '')
  const route = isOwn && isLocal ? routes[`${request.method} ${request.url}`] : undefined
  if (!route) return response.writeHead(404).end()
  await Promise.resolve(route(request, response)).catch((error) => response.writeHead(500).end(error.message))
})
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
