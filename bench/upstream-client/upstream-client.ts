import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type BenchOptions, publish, type Setting, type Spread, settingOf, spread } from '../results.ts';
import { endAll, firstLine, forkOn, spawnOn } from '../rpc/processes.ts';
import { type ClientKind, type ClientMessage, type ClientOrder, clients } from './messages.ts';

/** CPU of the client; the node has the other. */
const CLIENT_CPU = 0;
const NODE_CPU = 1;

type Summary = Setting &
  Readonly<{
    /** Requests per second of client CPU time. */
    perCpuSecond: Readonly<Record<ClientKind, Spread>>;
    /** Ratio to undici per round. */
    overUndici: Readonly<Record<ClientKind, Spread>>;
  }>;

async function measure(child: ChildProcess, order: ClientOrder): Promise<number> {
  const received = once(child, 'message');
  child.send(order);
  const [{ requests, cpuSeconds }] = (await received) as [ClientMessage];
  return requests / cpuSeconds;
}

/** One process per client, so that JIT optimizations do not mix. */
function startClients(): Readonly<Record<ClientKind, ChildProcess>> {
  const script = join(import.meta.dirname, 'client.ts');
  const open = (): ChildProcess => forkOn(CLIENT_CPU, script);
  return { undici: open(), own: open(), pipelined: open() };
}

async function measureAll({ rounds, seconds }: BenchOptions): Promise<Record<ClientKind, number>[]> {
  const responder = spawnOn(NODE_CPU, process.execPath, [
    join(import.meta.dirname, '..', 'rpc', 'responder.ts'),
  ]);
  const port = await firstLine(responder, (line) => (/^\d+$/.test(line) ? Number(line) : null));
  const workers = startClients();
  const results: Record<ClientKind, number>[] = [];
  for (let round = 0; round < rounds; round++) {
    const result = { undici: 0, own: 0, pipelined: 0 };
    for (const client of clients) {
      result[client] = await measure(workers[client], { client, url: `http://127.0.0.1:${port}/`, seconds });
    }
    results.push(result);
  }
  return results;
}

function spreads(value: (client: ClientKind) => readonly number[]): Record<ClientKind, Spread> {
  return {
    undici: spread(value('undici')),
    own: spread(value('own')),
    pipelined: spread(value('pipelined')),
  };
}

function render({ perCpuSecond, overUndici }: Summary): string {
  const lines = clients.map((client) => {
    const { median, min, max } = overUndici[client];
    const rate = Math.round(perCpuSecond[client].median / 100) / 10;
    const ratio = `${median.toFixed(2)} [${min.toFixed(2)}-${max.toFixed(2)}]`;
    return `  ${client.padEnd(10)} ${String(rate).padStart(6)} k   ${ratio} × undici\n`;
  });
  return `requests to a node per CPU second of the client, 64 in flight:\n${lines.join('')}`;
}

/** Compares the HTTP client with undici, without and with pipelining. */
export async function runUpstreamClientBench(options: BenchOptions): Promise<void> {
  try {
    const results = await measureAll(options);
    const summary: Summary = {
      ...settingOf(`npm run bench -- links --rounds ${options.rounds} --seconds ${options.seconds}`),
      perCpuSecond: spreads((client) => results.map((result) => result[client])),
      overUndici: spreads((client) => results.map((result) => result[client] / result.undici)),
    };
    publish('links', summary, options, render);
  } finally {
    await endAll();
  }
}
