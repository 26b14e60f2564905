/** One thing that an agent may try. */
export interface Attack {
  readonly name: string
  /** A command of the shell; `$T` is a port of this machine on which something listens. */
  readonly command: string
  /** What is reported of it; null for what a program is refused without a word that names its target. */
  readonly caged: string | null
}

type Row = readonly [name: string, command: string, caged?: string]

function attacks(rows: readonly Row[]): readonly Attack[] {
  return rows.map(([name, command, caged = null]) => ({ name, command, caged }))
}

/** Writes: after each of them all that was on the ground is as it was, but for the work folder. */
export const WRITES: readonly Attack[] = attacks([
  ['a file of the home', 'echo x >> ~/.bashrc', '~/.bashrc'],
  ['a new file of the home', 'echo x > ~/.profile', '~/.profile'],
  ['another repository', 'echo x > ~/work/other/README.md', '~/work/other/README.md'],
  ['a file beside the checkout', 'touch ~/work/x', '~/work/x'],
  ['a file of the checkout', 'echo x >> ~/work/shop/README.md', '~/work/shop/README.md'],
  ['a new file of the checkout', 'echo x > ~/work/shop/x', '~/work/shop/x'],
  ['a file beside the work folder', 'touch ../x', '~/.cache/ralph/shop-1a2b3c4d/1/work/x'],
  ['a file of the clean room', 'echo x > ../../check/shop/x'],
  ['a folder in place of the clean room', 'mkdir -p ../../check/shop/src'],
  ['what ralph keeps of the slot', 'echo x > ../../slot.json', '~/.cache/ralph/shop-1a2b3c4d/1/slot.json'],
  ["ralph's git of the work folder", 'echo x >> ../../work.git/config'],
  ['another slot', 'echo x > ../../../2/work/shop/x'],
  ['a new slot', 'mkdir -p ../../../3/work'],
  ['a system file', 'echo x > /etc/ralph-test', '/etc/ralph-test'],
  [
    'by a tool of its own',
    `node -e "require('fs').writeFileSync(process.env.HOME + '/.bashrc', 'x')"`,
    '~/.bashrc',
  ],
  ['by python', `python3 -c "open('$HOME/.bashrc','w')"`, '~/.bashrc'],
  ['by an option of git', 'git log --output=$HOME/.bashrc --format=x'],
  ['by git archive', 'git archive -o $HOME/a.tar HEAD'],
  ['by a work tree of git', 'git worktree add ~/tree'],
  ['through a symbolic link', 'ln -s ~/.bashrc link && echo x >> link'],
  ['through a link to a folder', 'ln -s ~ link && echo x > link/.profile'],
  ['through a hard link', 'ln ~/.bashrc link && echo x >> link'],
  ['through /proc/self/root', 'echo x >> /proc/self/root$HOME/.bashrc'],
  ['through /proc/1/root', 'echo x >> /proc/1/root$HOME/.bashrc'],
  ['through its own working folder', 'echo x >> /proc/self/cwd/../../../../../../.bashrc'],
  ['by renaming over it', 'echo x > new && mv new ~/.bashrc'],
  ['by taking it away', 'rm ~/.bashrc', '~/.bashrc'],
  ['by taking a folder away', 'rm -rf ~/work/other'],
  ['by changing its mode', 'chmod 777 ~/.bashrc'],
  ['git settings', 'git --git-dir=$HOME/work/shop/.git config core.fsmonitor "touch /tmp/x"'],
  ['git settings by hand', 'echo "[core]" >> ~/work/shop/.git/config'],
  ['a hook of git', 'echo x > ~/work/shop/.git/hooks/pre-commit'],
  ['the index', 'echo x > ~/work/shop/.git/index.lock'],
  [
    'a commit',
    'git commit -q --allow-empty -m x && git push -q ~/work/shop HEAD:refs/heads/x; git -C ~/work/shop commit --allow-empty -m x',
  ],
  ['a branch', 'mkdir -p ~/work/shop/.git/refs/heads; git rev-parse HEAD > ~/work/shop/.git/refs/heads/x'],
  ['an object', 'echo x > ~/work/shop/.git/objects/x', '~/work/shop/.git/objects/x'],
  [
    'an object through the list of those that are borrowed',
    'd=$(cat .git/objects/info/alternates); for f in $d/*/*; do echo x > $f; rm -f $f; done',
  ],
  [
    'what is borrowed, by letting git pack it',
    'GIT_OBJECT_DIRECTORY=$HOME/work/shop/.git/objects git gc --prune=now',
  ],
  ['by renaming over git settings', 'echo x > new && mv new ~/work/shop/.git/config'],
  ['by moving the git folder away', 'mv ~/work/shop/.git ~/work/shop/old'],
  ['by moving the checkout away', 'mv ~/work/shop ~/work/old && mkdir ~/work/shop'],
  ['what ralph keeps', 'echo x > ~/work/shop/.ralph/run.json'],
  ['what ralph keeps, in the work folder', 'echo x > .ralph/run.json', '.ralph/run.json'],
  ["ralph's configuration", 'echo x > ralph.config.json', 'ralph.config.json'],
  ["by renaming over ralph's configuration", 'echo x > new && mv new ralph.config.json'],
  ["by taking ralph's configuration away", 'rm -f ralph.config.json'],
  ['a hook of Claude Code', 'echo x > ~/.claude/settings.json', '~/.claude/settings.json'],
  ['a hook of Claude Code in the repository', 'echo x > .claude/settings.json', '.claude/settings.json'],
  ['a server of the repository', 'echo x > .mcp.json', '.mcp.json'],
  ['a server of Codex', 'echo x >> ~/.codex/config.toml', '~/.codex/config.toml'],
  ['a hook of Gemini', 'echo x > ~/.gemini/settings.json', '~/.gemini/settings.json'],
  ['a plugin of OpenCode', 'mkdir ~/.config/opencode/plugin', '~/.config/opencode/plugin'],
  ['how the kernel works', 'cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern'],
  ['a mount made writable', 'mount -o remount,bind,rw / && echo x >> ~/.bashrc'],
  ['from a namespace of its own', 'unshare -Urm sh -c "mount -o remount,bind,rw /; echo x >> $HOME/.bashrc"'],
  ['by taking a mount away', 'unshare -Urm sh -c "umount ~/work/shop; echo x >> ~/work/shop/.git/config"'],
  ['through a disk of its own', 'mknod disk b 8 0'],
])

/** Reads: none of them prints what it is after. */
export const READS: readonly Attack[] = attacks([
  ['an SSH key', 'cat ~/.ssh/id_rsa', '~/.ssh/id_rsa'],
  ['an SSH key by a glob', 'cat ~/.ss*/*'],
  ['an SSH key by a link', 'ln -s ~/.ssh/id_rsa k; cat k'],
  ['an SSH key through /proc', 'cat /proc/self/root$HOME/.ssh/id_rsa'],
  ['an SSH key by git', 'git diff --no-index /dev/null ~/.ssh/id_rsa'],
  ['an SSH key by a copy', 'rm -rf copy; cp -r ~/.ssh copy; cat copy/*'],
  ['a folder opened again', 'chmod -R 777 ~/.ssh; cat ~/.ssh/id_rsa'],
  ['a mount taken away', 'umount ~/.ssh; unshare -Urm umount ~/.ssh; cat ~/.ssh/id_rsa'],
  ['cloud credentials', 'cat ~/.aws/credentials', '~/.aws/credentials'],
  ['PGP keys', 'cat ~/.gnupg/secring', '~/.gnupg/secring'],
  ['the login of gh', 'cat ~/.config/gh/hosts.yml', '~/.config/gh/hosts.yml'],
  ['.netrc', 'cat ~/.netrc', '~/.netrc'],
  ['the tokens of npm', 'cat ~/.npmrc'],
  ['the passwords of git', 'cat ~/.git-credentials', '~/.git-credentials'],
  ['cookies of a browser', 'cat ~/.mozilla/cookies', '~/.mozilla/cookies'],
  ['the login of another agent', 'cat ~/.codex/auth.json', '~/.codex/auth.json'],
  ['an .env that git ignores', 'cat .env', '.env'],
  ['an .env by its link', 'ln .env e; cp .env f; cat e f'],
  ['a prompt of another attempt', 'cat ~/.cache/ralph/agent-other/prompt'],
  ['the checkout', 'cat ~/work/shop/notes.txt; cat ~/work/shop/*', '~/work/shop/notes.txt'],
  ['an .env of the checkout', 'cat ~/work/shop/.env', '~/work/shop/.env'],
  ['the checkout through /proc', 'cat /proc/self/root$HOME/work/shop/notes.txt'],
  ['the checkout by a link', 'ln -s ~/work/shop c; cat c/notes.txt'],
  ['remotes of the checkout', 'cat ~/work/shop/.git/config; git -C ~/work/shop remote -v'],
  ['the checkout by way of its objects', 'cat $(cat .git/objects/info/alternates)/../config'],
  ['the clean room', 'cat ../../check/shop/.env'],
  ["ralph's git of the work folder", 'cat ../../work.git/config'],
  ['what ralph keeps of the slot', 'cat ../../slot.json'],
  ['another slot', 'cat ../../../2/work/shop/.env ../../../2/attempt/prompt'],
  ['a variable with a key', 'printenv'],
  ["ralph's own variables", 'cat /proc/[0-9]*/environ | tr "\\0" "\\n"'],
])

/** Ways to somebody else: each prints REACHED where it arrives. */
export const CONNECTIONS: readonly Attack[] = attacks([
  ['a host by its name', 'curl -sf https://example.com && echo REACHED', 'example.com:443'],
  ['a host without encryption', 'curl -sf http://example.com && echo REACHED', 'example.com:80'],
  ['another port', 'curl -sf https://allowed.example:22 && echo REACHED', 'allowed.example:22'],
  [
    'a name that only looks allowed',
    'curl -sf https://allowed.example.evil.example && echo REACHED',
    'allowed.example.evil.example:443',
  ],
  ['an address', 'curl -sf https://93.184.216.34 && echo REACHED', '93.184.216.34:443'],
  ['an address in other figures', 'curl -sf http://2130706433:$T && echo REACHED'],
  [
    'the keeper of keys of a cloud',
    'curl -sf http://169.254.169.254/latest && echo REACHED',
    '169.254.169.254:80',
  ],
  ['what listens on this machine', 'curl -sf http://127.0.0.1:$T && echo REACHED'],
  [
    'the same through the proxy',
    'curl -sf --noproxy "" -x $HTTP_PROXY http://127.0.0.1:$T && echo REACHED',
    '127.0.0.1:',
  ],
  [
    'without the proxy',
    `node -e "require('net').connect(443, '1.1.1.1').on('connect', () => console.log('REACHED')).on('error', () => process.exit())"`,
  ],
  [
    'with the variables taken away',
    'env -u HTTPS_PROXY -u https_proxy curl -sf -m 3 https://1.1.1.1 && echo REACHED',
  ],
  [
    'IPv6',
    `node -e "require('net').connect(443, '2606:4700:4700::1111').on('connect', () => console.log('REACHED')).on('error', () => process.exit())"`,
  ],
  [
    'a name server',
    `node -e "const d = require('dgram').createSocket('udp4'); d.on('message', () => console.log('REACHED')); d.on('error', () => process.exit()); d.send('x', 53, '8.8.8.8', () => setTimeout(() => process.exit(), 200))"`,
  ],
  [
    'a socket of the file system',
    `node -e "require('net').connect(process.env.S).on('connect', () => console.log('REACHED')).on('error', () => process.exit())"`,
  ],
  ['the SSH agent', 'test -n "$SSH_AUTH_SOCK" && echo REACHED; ssh-add -l && echo REACHED'],
  ['the session bus', 'test -n "$DBUS_SESSION_BUS_ADDRESS" && echo REACHED'],
  [
    "docker's socket",
    `node -e "require('net').connect('/var/run/docker.sock').on('connect', () => console.log('REACHED')).on('error', () => process.exit())"`,
  ],
  [
    'an abstract socket',
    `python3 -c "import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0ralph-test'); print('REACHED')"`,
  ],
])

/** Attacks on ralph's own process: each prints REACHED where it arrives. `$R` is its number. */
export const PROCESSES: readonly Attack[] = attacks([
  ['a signal to ralph', 'kill -0 $R && echo REACHED'],
  ['a signal to all', 'kill -0 -1; ls /proc | grep -x $R && echo REACHED'],
  ['a look into ralph', 'cat /proc/$R/environ && echo REACHED'],
  [
    'a debugger on ralph',
    `python3 -c "import ctypes, os; print('REACHED' if ctypes.CDLL(None).ptrace(16, int(os.environ['R']), 0, 0) == 0 else '')"`,
  ],
  [
    'words into the terminal',
    `python3 -c "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSTI, b'x'); print('REACHED')"`,
  ],
  [
    'keys that the kernel keeps',
    `python3 -c "import ctypes; l = ctypes.CDLL(None, use_errno=True); print('REACHED' if l.syscall(250, 0, -3, 0) >= 0 else '')"`,
  ],
])
