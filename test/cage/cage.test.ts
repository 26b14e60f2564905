import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { git } from '../repository.ts'
import { available, Ground } from './here.ts'

const ground = available.ok ? new Ground() : null
afterAll(() => ground?.remove())

/** A server of this machine; gives its port. */
async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** A proxy of this machine that leads every name to one port. */
async function serveProxy(
  port: number,
): Promise<{ readonly url: string; readonly asked: readonly string[] }> {
  const asked: string[] = []
  const server = createServer()
  server.on('connect', (request, socket) => {
    asked.push(request.url ?? '')
    const to = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n')
      socket.pipe(to).pipe(socket)
    })
    to.on('error', () => socket.destroy())
    socket.on('error', () => to.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

describe.skipIf(!available.ok)('a caged process', () => {
  test('works in its folder as anywhere', async () => {
    const { output, caged, end } = await ground!.run(
      [
        'echo made > src/b.ts && cat src/b.ts',
        'mkdir -p deep/er && mv src/b.ts deep/er/ && rm -r deep',
        'f=$(mktemp) && echo temporary > $f && cat $f && echo more > /tmp/x && cat /tmp/x',
        'git status --short && git diff --stat && git log --format=%s',
        'cat /etc/hostname > /dev/null && cat .env.example',
        'echo done > /dev/shm/x && cat /dev/shm/x',
      ].join(' && '),
    )
    expect(output).toBe('made\ntemporary\nmore\nBegin\nKEY=\ndone\n')
    expect([end, caged]).toMatchObject([{ kind: 'exited', code: 0 }, []])
  })

  test('has a loopback of its own, and processes that speak to each other', async () => {
    const { output } = await ground!.run(
      `node -e "
        const { fork } = require('child_process'), http = require('http')
        if (process.send) { process.send('from a child'); process.exit() }
        const server = http.createServer((_, r) => r.end('served')).listen(0, '127.0.0.1', () =>
          http.get({ port: server.address().port }, (r) => r.on('data', (d) => {
            console.log(String(d)); server.close()
          })))
        fork('-e', ['process.send(1)'], { execArgv: [] }).on('error', () => {})
      " 2>/dev/null; python3 -c "import multiprocessing as m; a, b = m.Pipe(); a.send('piped'); print(b.recv())"`,
    )
    expect(output).toContain('served')
    expect(output).toContain('piped')
  })

  test('gives its exit code, its output as it comes, and can be told to end', async () => {
    const { running, heard } = ground!.start(
      'trap "echo bye; exit 7" TERM; echo ready; while :; do sleep 0.05; done',
    )
    await expect.poll(() => heard.output).toContain('ready')
    running.end('interrupt')
    expect(await running.finished).toMatchObject({ code: 7, ended: 'interrupt', survivors: [] })
    expect(heard.output).toContain('bye')
  })

  test('takes with it what it has left, whatever that has done to get away', async () => {
    const mark = `cage-${process.pid}-left`
    const { end } = await ground!.run(
      `setsid sh -c 'exec env -i sleep 1234' ${mark} & (setsid -f sleep 1235 &) ; echo ok`,
    )
    expect(end).toMatchObject({ code: 0, survivors: [] })
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toMatch(/sleep 123[45]/)
  })

  test('can start only so many processes, as far as its user is not root', async () => {
    const { output } = await ground!.run("grep 'Max processes' /proc/self/limits")
    expect(output).toMatch(/Max processes +4096 +4096/)
  })

  test('is ended whole, however many it has become', async () => {
    const { running, heard } = ground!.start('for i in $(seq 300); do sleep 1236 & done; echo ready; wait')
    await expect.poll(() => heard.output, { timeout: 20_000 }).toContain('ready')
    running.end('now')
    expect(await running.finished).toMatchObject({ ended: 'now', survivors: [] })
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain('sleep 1236')
  })

  test('finds a port of this machine that is named under its own number, also for what knows no proxy', async () => {
    const port = await serve((_, response) => response.end('from outside'))
    const settings = { gatesNetwork: [`127.0.0.1:${port}`] }
    const plain = `node -e "require('http').get('http://127.0.0.1:${port}', (r) => r.pipe(process.stdout))"`
    const { output } = await ground!.run(`${plain}; curl -s http://localhost:${port}`, {
      kind: 'gate',
      settings,
    })
    expect(output).toBe('from outsidefrom outside')
  })

  test('reaches an allowed host through the proxy of this machine, where it has one', async () => {
    const port = await serve((request, response) => response.end(`${request.headers.host} ${request.method}`))
    const { url, asked } = await serveProxy(port)
    const { output, caged, end } = await ground!.run(
      'curl -s http://allowed.example/x; curl -s -d body http://sub.below.example:8080/; curl -s http://other.example',
      {
        settings: { network: ['allowed.example', '*.below.example:8080'] },
        env: { HTTP_PROXY: url, HTTPS_PROXY: url },
      },
    )
    expect(output).toContain('allowed.example GETsub.below.example:8080 POST')
    expect(asked).toEqual(['allowed.example:80', 'sub.below.example:8080'])
    expect(end).not.toHaveProperty('refusedHosts')
    expect(caged).toEqual([
      { action: 'connect', target: 'other.example:80', allowedBy: 'sandbox.network: "other.example"' },
    ])
  })

  test('that asked only for hosts that are not allowed says so at its end', async () => {
    const { end } = await ground!.run('curl -s https://gateway.example', {
      settings: { network: ['a.example'] },
    })
    expect(end).toMatchObject({ kind: 'exited', refusedHosts: ['gateway.example'] })
  })

  test('beside another one keeps to its own policy', async () => {
    const port = await serve((_, response) => response.end('yes'))
    const { top, folder } = ground!
    const command = `curl -s -m 5 http://127.0.0.1:${port} || echo no; echo x > ${folder}/both || true`
    mkdirSync(join(folder, 'open'), { recursive: true })
    const [one, other] = await Promise.all([
      ground!.run(`${command}; echo x > ${folder}/open/a; ls ${top}`, {
        settings: { network: [`127.0.0.1:${port}`], write: [join(folder, 'open')] },
      }),
      ground!.run(`${command}; echo x > ${folder}/open/b`, { kind: 'gate' }),
    ])
    expect(one.output).toMatch(/^yes/)
    expect(other.output).toMatch(/^no/)
    expect(readdirSync(join(folder, 'open'))).toEqual(['a'])
    expect(other.caged).toContainEqual(
      expect.objectContaining({ action: 'write', target: join(folder, 'open/b') }),
    )
  })

  test('is allowed what the configuration names, and that alone', async () => {
    const settings = {
      write: ['~/.bashrc', '.mcp.json'],
      read: ['~/.aws', '.env', 'env:NPM_TOKEN'],
      denyRead: ['README.md'],
    }
    const env = { NPM_TOKEN: 'token', GITHUB_TOKEN: 'other' }
    const { output, caged } = await ground!.run(
      'echo y >> ~/.bashrc; echo "{}" > .mcp.json; cat ~/.aws/credentials .env; echo $NPM_TOKEN$GITHUB_TOKEN; cat README.md; cat ~/.ssh/id_rsa; echo z > ~/.aws/credentials',
      { settings, env },
    )
    expect(output).toMatch(/^SECRET\nKEY=SECRET\ntoken\n/)
    expect(caged).toEqual([
      { action: 'read', target: 'README.md', allowedBy: 'sandbox.read: "README.md"' },
      { action: 'read', target: '~/.ssh/id_rsa', allowedBy: 'sandbox.read: "~/.ssh"' },
      { action: 'write', target: '~/.aws/credentials', allowedBy: 'sandbox.write: "~/.aws/credentials"' },
    ])
    expect(readFileSync(join(ground!.home, '.bashrc'), 'utf8')).toBe('mine\ny\n')
  })

  test('has git whole: its repository is a throw-away, and only borrows the objects of the checkout', async () => {
    const { output, caged } = await ground!.run(
      [
        'git config user.name Mine && git config core.fsmonitor false',
        'mkdir -p .git/hooks && echo "#!/bin/sh" > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit',
        'git switch -q -c other && echo x > made.txt && git add -A && git commit -q -m Mine',
        'git log --format=%s && git branch && git stash list && git gc --quiet && git fsck --no-dangling && git show HEAD~1:README.md',
        'rm made.txt && git worktree add -q /tmp/tree HEAD && cat /tmp/tree/made.txt',
        'mv .git /tmp/away && test ! -e .git && mv /tmp/away .git',
      ].join(' && '),
    )
    expect(output).toBe('Mine\nBegin\n  main\n* other\n# shop\nx\n')
    expect(caged).toEqual([])
    expect(git(ground!.checkout, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
    ground!.lendGit()
  })

  test('cannot read the checkout where that is outside of the home either', async () => {
    const { folder, home, checkout } = ground!
    const own = join(folder, 'own-home')
    mkdirSync(own, { recursive: true })
    const env = { HOME: own, XDG_CACHE_HOME: join(home, '.cache') }
    const { output, end } = await ground!.run(
      `cat ${checkout}/notes.txt ${checkout}/README.md ${checkout}/.git/config; git log --format=%s; cat README.md`,
      { env },
    )
    expect(end).toMatchObject({ kind: 'exited', code: 0 })
    expect(output).not.toContain('SECRET')
    expect(output.match(/# shop/g)).toHaveLength(1)
    expect(output).toContain('Begin\n')
  })

  test('may write its attempt’s folder, and nothing else of the slot', async () => {
    const folder = join(ground!.slot, 'attempt')
    mkdirSync(folder, { recursive: true })
    const { output } = await ground!.run(
      `echo note > ${folder}/notes; echo x > ${folder}/../notes; ls ${ground!.slot}`,
      { writable: [folder] },
    )
    expect(readFileSync(join(folder, 'notes'), 'utf8')).toBe('note\n')
    expect(output.trim().split('\n').slice(-2)).toEqual(['attempt', 'work'])
    expect(existsSync(join(ground!.slot, 'notes'))).toBe(false)
  })

  test('has a folder for caches, which is empty and goes with it', async () => {
    const { home } = ground!
    const before = readdirSync(join(home, '.cache')).toSorted()
    const command =
      'ls -A ~/.cache; mkdir -p ~/.cache/standard && echo x > ~/.cache/standard/a && cat ~/.cache/*/a'
    const { output, caged } = await ground!.run(command, { kind: 'gate' })
    expect(output).toBe('ralph\nx\n')
    expect(caged).toEqual([])
    expect(readdirSync(join(home, '.cache')).toSorted()).toEqual(before)
  })

  test('keeps of an agent’s own folder what it needs, and nothing that would start later', async () => {
    const folder = join(ground!.home, '.claude')
    const before = readFileSync(join(folder, 'settings.json'), 'utf8')
    const { output } = await ground!.run(
      [
        'cd ~/.claude && cat settings.json .credentials.json',
        'echo hook > settings.json && mkdir -p hooks && echo x > hooks/run && cat settings.json',
        'echo session > projects/a.jsonl',
        'echo renewed > .credentials.json',
      ].join(' && '),
      {
        needs: {
          homes: [{ folder, keeps: ['projects', '.credentials.json'] }],
          keys: ['.claude/.credentials.json'],
        },
      },
    )
    expect(output).toBe('{}\nSECRET\nhook\n')
    expect(readFileSync(join(folder, 'settings.json'), 'utf8')).toBe(before)
    expect(readdirSync(folder).toSorted()).toEqual(['.credentials.json', 'projects', 'settings.json'])
    expect(readFileSync(join(folder, 'projects/a.jsonl'), 'utf8')).toBe('session\n')
    expect(readFileSync(join(folder, '.credentials.json'), 'utf8')).toBe('renewed\n')
    writeFileSync(join(folder, '.credentials.json'), 'SECRET\n')
  })

  test('carries a login home that was renewed by renaming, also while the agent lives, and brings it another’s', async () => {
    const folder = join(ground!.home, '.codex')
    const login = join(folder, 'auth.json')
    chmodSync(login, 0o600)
    const needs = { homes: [{ folder, keeps: ['auth.json'] }], keys: ['.codex/auth.json'] }
    const first = ground!.run(
      'cd ~/.codex; echo renewed > new; mv new auth.json; until grep -q again auth.json; do sleep 0.1; done; cat auth.json',
      { needs },
    )
    await vi.waitFor(() => expect(readFileSync(login, 'utf8')).toBe('renewed\n'), { timeout: 30_000 })
    expect(statSync(login).mode & 0o777).toBe(0o600)
    const second = await ground!.run('cd ~/.codex; cat auth.json; echo again > new; mv new auth.json', {
      needs,
    })
    expect(second.output).toBe('renewed\n')
    expect((await first).output).toBe('again\n')
    expect(readFileSync(login, 'utf8')).toBe('again\n')
    expect(readdirSync(folder).toSorted()).toEqual(['auth.json', 'config.toml'])
    writeFileSync(login, 'SECRET\n')
  })

  test('carries nothing home that a link or a pipe in the place of a login leads to', async () => {
    const folder = join(ground!.home, '.codex')
    const needs = { homes: [{ folder, keeps: ['auth.json'] }], keys: ['.codex/auth.json'] }
    const kinds = [`ln -s ${join(ground!.home, '.claude/.credentials.json')}`, 'mkfifo', 'mkdir']
    for (const kind of kinds) {
      await ground!.run(`cd ~/.codex; rm auth.json; ${kind} auth.json; sleep 1.2`, { needs })
      expect(readFileSync(join(folder, 'auth.json'), 'utf8')).toBe('SECRET\n')
    }
  })

  test('has not begun where its cage could not be made', async () => {
    const program = join(ground!.folder, 'no-bubblewrap')
    writeFileSync(program, '#!/bin/sh\necho "bwrap: Creating new namespace failed" >&2; exit 1\n', {
      mode: 0o755,
    })
    const { end } = await ground!.run('echo x > ran', { program })
    const reason = 'the sandbox could not be made: Creating new namespace failed'
    expect(end).toEqual({ kind: 'not-started', reason, missing: false })
    const missing = await ground!.run('true', { program: join(ground!.folder, 'nothing') })
    expect(missing.end).toMatchObject({ kind: 'not-started' })
  })

  test('leaves nothing of its own behind', async () => {
    await ground!.run('echo x > /tmp/left; mkdir -m 0 /tmp/closed')
    expect(readdirSync(join(ground!.home, '.cache/ralph')).toSorted()).toEqual([
      'agent-other',
      'caches',
      'shop-1a2b3c4d',
    ])
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(ground!.folder)
  })
})
