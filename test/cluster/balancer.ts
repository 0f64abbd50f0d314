import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { findProgram } from '../../bench/rpc/processes.ts';
import { eventually } from '../service/eventually.ts';
import { temporaryFolder } from '../service/program.ts';

export const haproxyProgram = findProgram('haproxy');

const CONFIGURATION = join(import.meta.dirname, '../../packaging/compose/haproxy.cfg');

/** Ports below this are never those of outgoing connections, which could take the port of a restarting server. */
const EPHEMERAL_MIN = 32_768;
const PORT_MIN = 10_000;

/** A port that stays free while its server restarts. */
export async function restartablePort(): Promise<number> {
  for (;;) {
    const port = PORT_MIN + Math.floor(Math.random() * (EPHEMERAL_MIN - PORT_MIN));
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (isFree) return port;
  }
}

export type Ports = Readonly<{ http: number; grpc: number }>;

/** The configuration for gateways on this machine. */
function configurationFor(gateways: ReadonlyMap<string, Ports>, own: Ports): string {
  const lines = readFileSync(CONFIGURATION, 'utf8').split('\n');
  return lines
    .filter((line) => {
      const [, name] = /^ +server (\S+)/.exec(line) ?? [];
      return name === undefined || gateways.has(name);
    })
    .map((line) => {
      const [, name = ''] = /^ +server (\S+)/.exec(line) ?? [];
      const { http, grpc } = gateways.get(name) ?? own;
      const host = name === '' ? '127.0.0.1' : '';
      return line
        .replace(/\bgateway-\d:/, '127.0.0.1:')
        .replace(/:8080\b/, `${host}:${http}`)
        .replace(/:50051\b/, `${host}:${grpc}`)
        .replace('port 8080', `port ${http}`);
    })
    .join('\n');
}

/** HAProxy with the configuration of packaging/compose. */
export class Balancer {
  readonly ports: Ports;
  readonly #process: ChildProcess;

  private constructor(ports: Ports, process: ChildProcess) {
    this.ports = ports;
    this.#process = process;
  }

  /** @param gateways - by name, as in the configuration: `gateway-1` … */
  static async start(gateways: ReadonlyMap<string, Ports>): Promise<Balancer> {
    if (haproxyProgram === null) throw new Error('HAProxy is not installed');
    const own = { http: await restartablePort(), grpc: await restartablePort() };
    const file = join(temporaryFolder('haproxy'), 'haproxy.cfg');
    writeFileSync(file, configurationFor(gateways, own));
    const process = spawn(haproxyProgram, ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    process.stderr.on('data', (text) => {
      errors = `${errors}${text}`.slice(-2_000);
    });
    const health = `http://127.0.0.1:${own.http}/health`;
    await eventually(async () => {
      if (process.exitCode !== null) throw new Error(`HAProxy ended: ${errors}`);
      return (await fetch(health).catch(() => null))?.ok;
    }, 'HAProxy answers');
    return new Balancer(own, process);
  }

  async close(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }
}
