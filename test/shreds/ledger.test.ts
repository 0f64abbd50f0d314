import { AddressLookupTableProgram, Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { shredVersion } from '../../packages/localnet/src/genesis/shred-version.ts';
import type { RpcHandler } from '../../packages/localnet/src/rpc-handler.ts';
import { rpcHandlers } from '../../packages/localnet/src/rpc-handlers.ts';
import { at, Lab } from '../../packages/localnet/test/ledger/lab.ts';
import { parseJson, writeJson } from '../../src/base/json.ts';
import { createLogger } from '../../src/base/log.ts';
import { addressBytes } from '../../src/solana/address.ts';
import { slot as slotOf } from '../../src/solana/units.ts';
import { LeaderSchedule } from '../../src/upstream/shreds/leader-schedule.ts';
import { LookupTables } from '../../src/upstream/shreds/lookup-tables.ts';
import { shredLimits } from '../../src/upstream/shreds/shreds-config.ts';

/** The requests of the shred stage, sent to the embedded ledger with its real programs. */

const SLOTS_PER_EPOCH = 64;
const log = createLogger('silent', () => {});

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open({ slotsPerEpoch: SLOTS_PER_EPOCH });
});
afterAll(() => lab.close());

const reader = {
  request: async (method: keyof typeof rpcHandlers, params: unknown): Promise<Buffer> => {
    const handler: RpcHandler = rpcHandlers[method];
    const wire = parseJson(writeJson(params as never));
    return Buffer.from(writeJson(await handler(lab.node, wire)));
  },
} as ConstructorParameters<typeof LeaderSchedule>[0]['reader'];

describe('the leader schedule of the embedded ledger', () => {
  it('has its identity for every slot of this and the next epoch, and its shred version', async () => {
    const schedule = new LeaderSchedule({ reader, limits: shredLimits, log, discoverShredVersion: true });
    onTestFinished(() => schedule.close());
    await schedule.start();
    const { identity, hash } = lab.node.genesis;
    for (const slot of [1, SLOTS_PER_EPOCH - 1, SLOTS_PER_EPOCH, 2 * SLOTS_PER_EPOCH - 1]) {
      expect(schedule.leaderOf(slotOf(slot))).toEqual(addressBytes(identity));
    }
    expect(schedule.leaderOf(slotOf(2 * SLOTS_PER_EPOCH))).toBeNull();
    expect(schedule.shredVersion).toBe(shredVersion(hash));
  });
});

describe('a lookup table of the embedded ledger', () => {
  it('is resolved as written, from the slot after its extension on', async () => {
    const payer = lab.wallet();
    const targets = [Keypair.generate().publicKey, Keypair.generate().publicKey];
    lab.freeze();
    const authority = { authority: payer.publicKey, payer: payer.publicKey };
    const recentSlot = Number(lab.node.bank('processed').slot);
    const [create, table] = AddressLookupTableProgram.createLookupTable({ ...authority, recentSlot });
    const extend = { ...authority, lookupTable: table, addresses: targets };
    expect(lab.run([payer], [create, AddressLookupTableProgram.extendLookupTable(extend)])).toBeNull();
    const extendedIn = lab.node.bank('processed').slot;

    const limits = { ...shredLimits, tablesGatherMs: 0 };
    const tables = new LookupTables({ reader, limits, log });
    onTestFinished(() => tables.close());
    const lookups = [
      {
        accountKey: addressBytes(at(table)),
        writableIndexes: Uint8Array.of(1),
        readonlyIndexes: Uint8Array.of(0),
      },
    ];
    const next = slotOf(extendedIn + 1n);
    expect(tables.resolve(lookups, next)).toBeNull();
    while (tables.size === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(tables.resolve(lookups, extendedIn)).toBeNull();
    expect(tables.resolve(lookups, next)).toEqual({
      writable: [addressBytes(at(targets[1]!))],
      readonly: [addressBytes(at(targets[0]!))],
    });
  });
});
