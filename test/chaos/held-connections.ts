import { setTimeout as delay } from 'node:timers/promises';
import { revokeKey } from '../../src/control/keys/change-key.ts';
import { createKey } from '../../src/control/keys/create-key.ts';
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

const isOpen = ({ endedAt }: Held): boolean => endedAt === null;

/** null when it was rejected. */
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
  stream.send({ slots: new Map([['all', {}]]) });
  await Promise.race([stream.first, ended]);
  return isOpen(held) ? held : null;
}

/** A new key is in force after a moment. */
async function untilOpen(open: () => Promise<Held | null>, isOver: () => boolean): Promise<Held | null> {
  for (; !isOver(); await delay(POLL_MS)) {
    const held = await open();
    if (held !== null) return held;
  }
  return null;
}

/** Holds WebSockets and gRPC streams on every gateway: they stay open as long as their key is good, and no longer. */
export class HeldConnections {
  readonly violations: string[] = [];
  /** From a revocation until a connection was closed, without outages of the database. */
  readonly delays: number[] = [];
  closed = 0;
  readonly #register: KeyRegister;
  readonly #gateways: readonly Ready[];
  /** Of the database. */
  readonly #outages: Outages;
  readonly #clients: readonly GrpcClient[];

  constructor(register: KeyRegister, gateways: readonly Ready[], outages: Outages) {
    this.#register = register;
    this.#gateways = gateways;
    this.#outages = outages;
    this.#clients = gateways.map(({ grpcUrl }) => new GrpcClient(grpcUrl));
  }

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      // During an outage of the database, no key can be made, and the outcome of a revocation is unknown.
      const keys = await Promise.all([this.#make('rpc'), this.#make('grpc')]).catch(() => null);
      if (keys === null) {
        await delay(100);
        continue;
      }
      const [rpc, grpc] = keys;
      const opened = this.#gateways.flatMap(({ wsUrl }, at) => [
        untilOpen(() => openSocket(`${wsUrl}?api-key=${rpc.secret}`), isOver),
        untilOpen(() => openStream(this.#clients[at]!, grpc.secret), isOver),
      ]);
      const held = (await Promise.all(opened)).filter((one) => one !== null);
      await delay(Math.random() * HELD_MAX_MS);
      for (const { what } of held.filter((one) => !isOpen(one)))
        this.violations.push(`${what} was closed although its key was good`);
      const revoked = keys.map(({ key }) => revokeKey(this.#register, key.id));
      await Promise.all(revoked).then(
        () => this.#untilClosed(held),
        () => {},
      );
      for (const one of held) one.close();
    }
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }

  #make(product: 'rpc' | 'grpc') {
    return createKey(this.#register, { product, name: 'held' });
  }

  async #untilClosed(held: readonly Held[]): Promise<void> {
    const since = performance.now();
    while (held.some(isOpen) && performance.now() <= this.#outages.limitOf(since)) await delay(POLL_MS);
    const late = Math.round(performance.now() - since);
    for (const { what } of held.filter(isOpen))
      this.violations.push(`${what} of a revoked key was open ${late} ms later`);
    this.closed += held.filter((one) => !isOpen(one)).length;
    if (this.#outages.wasThereSince(since - bounds.afterReturn))
      this.delays.push(...held.map(({ endedAt }) => Math.max(0, (endedAt ?? performance.now()) - since)));
  }
}
