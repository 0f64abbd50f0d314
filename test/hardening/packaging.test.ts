import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProgram } from '../../bench/rpc/processes.ts';
import { loadConfiguration } from '../../src/config/configuration.ts';
import { temporaryFolder } from '../service/program.ts';

/** Packaging files for users, checked without Docker and a running systemd. */
const root = join(import.meta.dirname, '../..');
/** Tenths of the exposure level of systemd-analyze, which calls up to 50 OK. */
const EXPOSURE_MAX = 20;
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  bin: { solway: string };
  scripts: { start: string };
};

describe('the Dockerfile', () => {
  const stages = read('packaging/Dockerfile')
    .replaceAll('\\\n', ' ')
    .split(/^(?=FROM )/m)
    .slice(1);
  const of = (name: string, stage = stages.length - 1): string[] =>
    [...(stages[stage] ?? '').matchAll(new RegExp(`^${name} +(.*)$`, 'gm'))].map(([, text = '']) => text);

  it('installs the published files with the lock file, and runs no install scripts', () => {
    expect(of('RUN', 0).join()).toContain('npm pack');
    const install =
      /^npm pkg delete devDependencies workspaces +&& npm install --package-lock-only .* && npm ci --omit=dev [^&=]*$/;
    expect(of('RUN', 1)).toEqual([expect.stringMatching(install)]);
    expect(of('COPY')).toEqual(['--from=install /opt/solway /opt/solway']);
  });

  it('runs the program directly as an unprivileged user, with signals and a health check', () => {
    expect(JSON.parse(of('ENTRYPOINT')[0] ?? '')).toEqual(['node', `/opt/solway/${manifest.bin.solway}`]);
    expect(JSON.parse(of('CMD')[0] ?? '')).toEqual(['up', '--config', '/etc/solway/solway.toml']);
    expect(of('USER')).toEqual(['10001:10001']);
    expect(of('STOPSIGNAL')).toEqual(['SIGTERM']);
    const [, check = ''] = /CMD (\[.*\])$/.exec(of('HEALTHCHECK')[0] ?? '') ?? [];
    expect(JSON.parse(check)).toEqual(['node', '-e', expect.stringContaining('/ready')]);
  });

  it('checks health with a command that reports the state of the service', async () => {
    const [, check = ''] = /CMD (\[.*\])$/.exec(of('HEALTHCHECK')[0] ?? '') ?? [];
    const [, ...args] = JSON.parse(check) as string[];
    const status = (url: string) =>
      spawnSync(process.execPath, args, { env: { ...process.env, HEALTHCHECK_URL: url } }).status;
    expect(status('data:text/plain,ready')).toBe(0);
    expect(status('http://127.0.0.1:1/ready')).toBe(1);
  });
});

describe('the systemd unit', () => {
  const text = read('packaging/solway.service');
  const values = (name: string): string[] =>
    [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

  it("grants access to the service's folders, and drops all unneeded privileges", () => {
    const hardened: Record<string, string> = {
      ...{ User: 'solway', StateDirectory: 'solway', ProtectSystem: 'strict', NoNewPrivileges: 'yes' },
      ...{ ProtectHome: 'yes', PrivateTmp: 'yes', PrivateDevices: 'yes', CapabilityBoundingSet: '' },
      ...{ ExecReload: '/bin/kill -HUP $MAINPID', Restart: 'always', KillMode: 'mixed', LimitCORE: '0' },
      ...{ RestrictNamespaces: 'yes', ProtectProc: 'invisible', StandardOutput: 'null', UMask: '0077' },
    };
    for (const [name, value] of Object.entries(hardened))
      expect([name, values(name)]).toEqual([name, [value]]);
    expect(Number(values('LimitNOFILE')[0])).toBeGreaterThan(100_000);
    expect(values('MemoryMax')).toHaveLength(1);
    // Allowed for threads of its own; no other @resources calls.
    expect(values('SystemCallFilter')).toEqual(['@system-service', '~@privileged @resources', 'setpriority']);
    // A name without path, which systemd finds in /usr/local/bin and /usr/bin, where npm installs it.
    expect(values('ExecStart')).toEqual([
      'solway up --config /etc/solway/solway.toml --data-dir /var/lib/solway',
    ]);
  });

  it.skipIf(findProgram('systemd-analyze') === null)('passes systemd-analyze', () => {
    const file = join(temporaryFolder('unit'), 'solway.service');
    // The program need not be installed.
    writeFileSync(file, text.replace('ExecStart=solway', `ExecStart=${process.execPath}`));
    const analyze = (...args: string[]) => {
      const { status, stderr } = spawnSync('systemd-analyze', [...args, file], { encoding: 'utf8' });
      return { status, stderr };
    };
    expect(analyze('verify')).toEqual({ status: 0, stderr: '' });
    expect(analyze('security', '--offline=true', `--threshold=${EXPOSURE_MAX}`).status).toBe(0);
  });
});

describe('the configuration in the compose files and in the Helm chart', () => {
  const [, inChart = ''] = /^config: \|\n((?: {2}.*\n|\n)+)/m.exec(read('packaging/helm/values.yaml')) ?? [];

  it.each([
    ['compose', read('packaging/compose/solway.toml')],
    ['Helm', inChart.replaceAll(/^ {2}/gm, '')],
  ])('is valid and drains: %s', (_, content) => {
    const config = join(temporaryFolder('configuration'), 'solway.toml');
    writeFileSync(config, content);
    const environment = {
      ...{ NODE_URL: 'https://node.example', DATABASE_URL: 'postgres://solway:secret@postgres/solway' },
      ...{ REDIS_URL: 'redis://valkey:6379', METRICS_TOKEN: 'x'.repeat(32) },
      CLICKHOUSE_URL: 'http://solway:secret@clickhouse:8123/solway',
    };
    const { server, upstreams } = loadConfiguration({ config, upstreams: [] }, environment);
    expect(upstreams.map(({ url }) => url)).toEqual([environment.NODE_URL]);
    // Balancers see /ready fail twice.
    expect(server.drainNoticeMs).toBeGreaterThan(1_000);
  });
});

describe('settings of the packaging files', () => {
  const matches = (text: string, pattern: RegExp): string[] =>
    [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))].sort();

  it('of the Helm chart have a default and are used', () => {
    const templates = 'packaging/helm/templates';
    const text = readdirSync(join(root, templates)).map((name) => read(`${templates}/${name}`));
    const used = matches(text.join('\n'), /\.Values\.([\w.]+)/g);
    let section = '';
    const settings = [...read('packaging/helm/values.yaml').matchAll(/^( {2})?(\w+):/gm)].map(
      ([, indent, name = '']) => {
        if (indent === undefined) section = name;
        return indent === undefined ? name : `${section}.${name}`;
      },
    );
    expect(used.filter((name) => !settings.includes(name))).toEqual([]);
    const isUsed = (name: string): boolean =>
      used.some((other) => `${name}.`.startsWith(`${other}.`) || other.startsWith(`${name}.`));
    expect(settings.filter((name) => !isUsed(name))).toEqual([]);
  });

  it('are not set by Kubernetes, whose SOLWAY_PORT of a service named solway is no port', () => {
    expect(read('packaging/helm/templates/gateways.yaml')).toContain('\n      enableServiceLinks: false\n');
  });

  it('of the compose files are in the documentation', () => {
    const files = ['compose.yaml', 'cluster.yaml']
      .map((name) => read(`packaging/compose/${name}`))
      .join('\n');
    const names = matches(files, /\$\{(\w+):\?/g);
    expect(names).toHaveLength(6);
    const [, documented = ''] = /\n\{\n([\s\S]*?)\n\} > \.env\n/.exec(read('docs/how-to/install.md')) ?? [];
    expect(names.filter((name) => !documented.includes(name))).toEqual([]);
  });
});

describe('the compose files', () => {
  it('publish the ports of the balancer only, once there is one', () => {
    // "!reset" has no effect in a YAML anchor: each gateway needs its own.
    const gateways = [...read('packaging/compose/cluster.yaml').matchAll(/^ {2}gateway-\d:\n( {4}.*\n)+/gm)];
    expect(gateways).toHaveLength(3);
    expect(gateways.filter(([text]) => !text.includes('\n    ports: !reset []\n'))).toEqual([]);
  });
});

describe('the published package', () => {
  it("starts the program in place of npm's shell, which would not forward SIGTERM", () => {
    expect(manifest.scripts.start).toMatch(/^exec node /);
  });

  it('contains the files that unit, image and their documentation refer to', () => {
    const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const parsed = JSON.parse(output) as unknown;
    const [packed] = Object.values(parsed as object) as { files: { path: string }[] }[];
    const paths = packed?.files.map(({ path }) => path) ?? [];
    const named = ['bin/solway.js', 'config/solway.example.toml', 'docs/how-to/install.md', 'LICENSE'];
    const required = ['packaging/solway.service', 'packaging/Dockerfile', 'packaging/helm/Chart.yaml'];
    expect([...named, ...required].filter((file) => !paths.includes(file))).toEqual([]);
    expect(paths.filter((path) => /^(?:src|test|solway-data|node_modules)\//.test(path))).toEqual([]);
  });
});
