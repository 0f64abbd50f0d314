import { status } from '@grpc/grpc-js';
import { Keypair } from '../../../src/solana/ed25519.ts';
import type { GeyserServer, GeyserStream, UpdateMessage } from '../feeds/geyser-server.ts';
import { sendOn } from './source-rig.ts';

export const FIRST_SLOT = 100;
export const LAST_SLOT = 140;
export const writtenAddress = Keypair.fromSeed(new Uint8Array(32).fill(1)).address;

export class ScriptedChain {
  readonly server: GeyserServer;
  readonly #updates: readonly UpdateMessage[];
  readonly #starts = new Map<number, number>();
  readonly #streams = new Set<GeyserStream>();
  position = 0;

  constructor(server: GeyserServer, slotUpdates: (slot: number) => UpdateMessage[], replays = true) {
    this.server = server;
    const updates: UpdateMessage[] = [];
    for (let slot = FIRST_SLOT; slot <= LAST_SLOT; slot++) {
      this.#starts.set(slot, updates.length);
      updates.push(...slotUpdates(slot));
    }
    this.#updates = updates;
    server.onRequest = ({ fromSlot }, stream) => {
      if (fromSlot !== undefined && !replays) {
        stream.emit('error', { code: 13, details: 'from_slot is not supported' });
        return;
      }
      this.#streams.add(stream);
      stream.once('close', () => this.#streams.delete(stream));
      stream.once('cancelled', () => this.#streams.delete(stream));
      if (fromSlot === undefined) return;
      sendOn(stream, this.#updates.slice(this.#starts.get(Number(fromSlot)) ?? 0, this.position));
    };
  }

  get length(): number {
    return this.#updates.length;
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  advance(to: number): void {
    const next = this.#updates.slice(this.position, to);
    this.position = Math.max(this.position, to);
    for (const stream of this.#streams) sendOn(stream, next);
  }

  kill(): void {
    for (const stream of this.#streams) {
      this.#streams.delete(stream);
      stream.emit('error', { code: status.UNAVAILABLE, details: 'server is shutting down' });
    }
  }
}
