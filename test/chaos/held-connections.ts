import { setTimeout as delay } from 'node:timers/promises';
import { revokeKey } from '../../src/control/keys/change-key.ts';
import { createKey, type NewKey } from '../../src/control/keys/create-key.ts';
import type { KeyRegister } from '../../src/control/keys/key-register.ts';
import { GrpcClient } from '../service/grpc-client.ts';
import { SocketClient } from '../service/socket-client.ts';
import type { Ready } from '../service/start-service.ts';
import { POLL_MS } from './key-traffic.ts';
import { bounds, type Outages } from './outages.ts';

/** Maximum time before the key is revoked. */
const HELD_MAX_MS = 5_000;

/** An open connection. Times are those of `performance.now()`. */
type Held = { readonly what: string; endedAt: number | null; close(): void };

export type HeldOptions = Readonly<{
  register: KeyRegister;
  gateways: readonly Ready[];
  /** Of the database. */
  outages: Outages;
}>;

const slots = { slots: new Map([['all', {}]]) };

/** Holds WebSockets and gRPC streams on every gateway: they stay open as long as their key is good, and no longer. */
export class HeldConnections {
  readonly violations: string[] = [];
  /** From a revocation until a connection was closed, without outages of the database. */
  readonly delays: number[] = [];
  closed = 0;
  readonly #options: HeldOptions;
  readonly #clients: readonly GrpcClient[];

  constructor(options: HeldOptions) {
    this.#options = options;
    this.#clients = options.gateways.map(({ grpcUrl }) => new GrpcClient(grpcUrl));
  }

  /** Opens connections and revokes their keys until `isOver`. */
  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const made = await this.#make();
      if (made === null) {
        await delay(100);
        continue;
      }
      const held = await this.#openAll(made, isOver);
      await delay(Math.random() * HELD_MAX_MS);
      for (const { what, endedAt } of held)
        if (endedAt !== null) this.violations.push(`${what} was closed although its key was good`);
      await this.#revoke(made, held);
    }
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }

  /** Keys of both products; null during an outage of the database. */
  async #make(): Promise<Readonly<{ rpc: NewKey; grpc: NewKey }> | null> {
    const { register } = this.#options;
    try {
      const rpc = await createKey(register, { product: 'rpc', name: 'held' });
      return { rpc, grpc: await createKey(register, { product: 'grpc', name: 'held' }) };
    } catch {
      return null;
    }
  }

  async #openAll({ rpc, grpc }: { rpc: NewKey; grpc: NewKey }, isOver: () => boolean): Promise<Held[]> {
    const opened = this.#options.gateways.flatMap(({ wsUrl }, index) => [
      untilOpen(() => openSocket(`${wsUrl}?api-key=${rpc.secret}`), isOver),
      untilOpen(() => openStream(this.#clients[index] as GrpcClient, grpc.secret), isOver),
    ]);
    return (await Promise.all(opened)).filter((held) => held !== null);
  }

  async #revoke({ rpc, grpc }: { rpc: NewKey; grpc: NewKey }, held: readonly Held[]): Promise<void> {
    const { register, outages } = this.#options;
    try {
      await revokeKey(register, rpc.key.id);
      await revokeKey(register, grpc.key.id);
    } catch {
      // The outcome is unknown because of a database outage.
      for (const one of held) one.close();
      return;
    }
    const since = performance.now();
    const isOpen = ({ endedAt }: Held): boolean => endedAt === null;
    while (held.some(isOpen) && performance.now() <= outages.limitOf(since)) await delay(POLL_MS);
    for (const { what } of held.filter(isOpen))
      this.violations.push(
        `${what} of a revoked key was open ${Math.round(performance.now() - since)} ms later`,
      );
    this.closed += held.filter((one) => !isOpen(one)).length;
    if (outages.wasThereSince(since - bounds.afterReturn))
      this.delays.push(...held.map(({ endedAt }) => Math.max(0, (endedAt ?? performance.now()) - since)));
    for (const one of held) one.close();
  }
}

async function openSocket(url: string): Promise<Held | null> {
  const client = await SocketClient.open(url).catch(() => null);
  if (client === null) return null;
  await client.call('slotSubscribe');
  const held: Held = { what: 'a WebSocket', endedAt: null, close: () => void client.close() };
  void client.ended.then(({ at }) => {
    held.endedAt = at;
  });
  return held;
}

/** null when it was rejected. */
async function openStream(client: GrpcClient, secret: string): Promise<Held | null> {
  const stream = client.open(secret, 'Subscribe');
  const held: Held = { what: 'a gRPC stream', endedAt: null, close: () => stream.close() };
  const ended = stream.ended.then(() => {
    held.endedAt = performance.now();
  });
  stream.send(slots as never);
  await Promise.race([stream.first, ended]);
  return held.endedAt === null ? held : null;
}

/** A new key is in force after a moment. */
async function untilOpen(open: () => Promise<Held | null>, isOver: () => boolean): Promise<Held | null> {
  while (!isOver()) {
    const held = await open();
    if (held !== null) return held;
    await delay(POLL_MS);
  }
  return null;
}
