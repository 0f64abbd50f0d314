import { Keypair } from '@solana/web3.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sysvarOwner } from '../../../../src/solana/programs.ts';
import type { LedgerEvent } from '../../../../src/streams/ledger-event.ts';
import { Lab, SOL } from './lab.ts';

let lab: Lab;
let events: LedgerEvent[];
beforeEach(async () => {
  lab = await Lab.open({ ticksPerSlot: 2 });
  events = [];
});
afterEach(() => lab.close());

const follow = (): (() => void) => lab.node.follow((event) => events.push(event));

/** Event as `kind slot` with its identity. */
function line(event: LedgerEvent): string {
  switch (event.kind) {
    case 'transaction':
      return `transaction ${event.slot} #${event.index} ${event.executed.meta.err === null ? 'ok' : 'failed'}`;
    case 'account':
      return `account ${event.slot} ${event.account === null ? 'drained' : event.account.lamports}`;
    case 'created':
      return `created ${event.slot} on ${event.parent} root ${event.root}`;
    case 'block':
      return `block ${event.block.slot} of ${event.block.transactions.length}`;
    case 'entry':
      return `entry ${event.slot} #${event.index} of ${event.executedTransactionCount}`;
    case 'vote':
      return `vote ${event.vote.slots.at(-1)}`;
    default:
      return `${event.kind} ${event.slot}`;
  }
}
/** Accounts changed by every slot. */
const isOfSlot = (event: LedgerEvent): boolean =>
  event.kind === 'account' &&
  (event.account?.owner === sysvarOwner || event.address === lab.node.genesis.voteAccount);
const lines = (): string[] => events.filter((event) => !isOfSlot(event)).map(line);

describe('followed ledger', () => {
  it('reports a slot from creation to root in order', async () => {
    const [from, to] = [lab.wallet(1), Keypair.generate().publicKey];
    follow();
    events = [];
    lab.node.submit(lab.transfer(from, to, SOL / 2));
    lab.node.submit(lab.transfer(from, to, SOL));
    lab.freeze();
    const leader = lab.node.bank('processed').account(lab.node.genesis.identity)?.lamports ?? 0n;
    expect(lines()).toEqual([
      'received 2',
      `account 2 ${SOL / 2 - 5000}`,
      `account 2 ${SOL / 2}`,
      'transaction 2 #1 ok',
      'entry 2 #1 of 1',
      'received 2',
      `account 2 ${SOL / 2 - 10_000}`,
      'transaction 2 #2 failed',
      'entry 2 #2 of 1',
      `account 2 ${leader}`,
      'entry 2 #3 of 0',
      'entry 2 #4 of 0',
      'completed 2',
      'frozen 2',
      'block 2 of 3',
      'processed 2',
      'confirmed 1',
      'created 3 on 2 root 0',
      `account 3 ${leader - 10_000n}`,
      'transaction 3 #0 ok',
      'entry 3 #0 of 1',
      'vote 2',
    ]);
  });

  it('reports every slot once per step however far the root jumps', async () => {
    follow();
    lab.freeze(40);
    await lab.durable();
    lab.freeze();
    await lab.durable();
    lab.freeze(3);
    const slots = (kind: string) =>
      events.flatMap((event) => (event.kind === kind && 'slot' in event ? [Number(event.slot)] : []));
    const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
    expect(slots('created')).toEqual(upTo(45));
    expect(slots('frozen')).toEqual(upTo(44));
    expect(slots('processed')).toEqual(upTo(44));
    expect(slots('confirmed')).toEqual(upTo(43));
    expect(slots('rooted')).toEqual(upTo(13));
  });

  it('omits rejected transactions and reports a waiting one once', async () => {
    const stranger = Keypair.generate();
    follow();
    events = [];
    lab.node.submit(lab.transfer(stranger, stranger.publicKey, 1));
    expect(events).toEqual([]);

    await lab.close();
    lab = await Lab.open({ blockCostMax: 3000n });
    const from = lab.wallet();
    follow();
    events = [];
    for (let amount = 1; amount <= 3; amount++) {
      lab.node.send(lab.transfer(from, Keypair.generate().publicKey, amount * SOL));
    }
    lab.freeze(3);
    const times = (kind: string) => events.filter((event) => event.kind === kind).length;
    expect([times('received'), times('transaction')]).toEqual([3, 3]);
  });

  it('stops after the listener is removed', () => {
    const leave = follow();
    leave();
    events = [];
    lab.freeze();
    expect(events).toEqual([]);
  });
});
