import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../base/json.ts';
import { createLogger } from '../../../base/log.ts';
import type { Commitment } from '../../../protocol/commitment.ts';
import type { SubscriptionOf } from '../../../protocol/subscriptions.ts';
import { signatureFromBytes } from '../../../solana/signature.ts';
import { slot } from '../../../solana/units.ts';
import type { RequestFn } from '../chain-reader.ts';
import { LateSignatures } from './late-signatures.ts';

function waitFor(number: number, commitment: Commitment): SubscriptionOf<'signature'> {
  const bytes = Buffer.alloc(64);
  bytes.writeUInt32BE(number);
  return { kind: 'signature', signature: signatureFromBytes(bytes), commitment, received: false };
}

class SlowNode {
  readonly requests: (readonly string[])[] = [];
  slot = 5;
  isKnown = true;
  pending = 0;
  pendingMost = 0;
  #answers: (() => void)[] = [];
  #waiting: (() => void)[] = [];

  readonly request: RequestFn = async (method, params) => {
    if (method === 'getSlot') return Buffer.from('3');
    const [signatures] = params as [readonly string[]];
    this.requests.push(signatures);
    this.pending++;
    this.pendingMost = Math.max(this.pendingMost, this.pending);
    for (const wake of this.#waiting.splice(0)) wake();
    await new Promise<void>((resolve) => this.#answers.push(resolve));
    this.pending--;
    const status = this.isKnown ? { slot: 4, err: null, confirmationStatus: 'confirmed' } : null;
    const value = signatures.map(() => status);
    return Buffer.from(JSON.stringify({ context: { slot: this.slot }, value }));
  };

  async answer(): Promise<void> {
    while (this.#answers.length === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#answers.shift()?.();
  }
}

function start(newest = 4) {
  const node = new SlowNode();
  const log = createLogger('silent', () => {});
  return { node, late: new LateSignatures(node.request, log, () => slot(newest)) };
}

describe('LateSignatures', () => {
  it('sends one request at a time, for 256 signatures each', async () => {
    const { node, late } = start();
    const emitted: unknown[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    for (let number = 0; number < 600; number++) {
      late.watch(waitFor(number, 'confirmed'), (result) => {
        emitted.push(parseJson(result.toString('utf8')));
        if (emitted.length === 600) resolve();
      });
    }
    for (let questions = 0; questions < 3; questions++) await node.answer();
    await promise;
    expect(node.requests.map(({ length }) => length)).toEqual([256, 256, 88]);
    expect(new Set(node.requests.flat()).size).toBe(600);
    expect(node.pendingMost).toBe(1);
    // The confirmed slot, not the context slot of the statuses.
    expect(emitted[0]).toEqual({ context: { slot: 3 }, value: { err: null } });
  });

  it('repeats a request once, regardless of how many slots passed', async () => {
    const { node, late } = start();
    for (let number = 0; number < 3; number++) late.watch(waitFor(number, 'finalized'), () => {});
    late.watch(waitFor(9, 'confirmed'), () => {});
    for (let slot = 0; slot < 5; slot++) late.onCommitment('finalized');
    await node.answer();
    for (let slot = 0; slot < 5; slot++) late.onCommitment('finalized');
    await node.answer();
    late.onCommitment('finalized');
    await node.answer();
    expect(node.requests.map(({ length }) => length)).toEqual([4, 3, 3]);
    expect(node.pendingMost).toBe(1);
  });

  it('repeats a request until the node has reached the slot at which the subscription was opened, then once more', async () => {
    const { node, late } = start(9);
    node.isKnown = false;
    late.watch(waitFor(1, 'confirmed'), () => {});
    for (node.slot = 7; node.slot <= 13; node.slot++) {
      await Promise.race([node.answer(), new Promise(setImmediate)]);
      await new Promise(setImmediate);
      late.onCommitment('confirmed');
      await new Promise(setImmediate);
    }
    // At 7, 8, 9 and 10.
    expect(node.requests.length).toBe(4);
  });
});
