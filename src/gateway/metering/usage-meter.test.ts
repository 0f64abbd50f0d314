import { describe, expect, it } from 'vitest';
import type { Network } from '../../protocol/call.ts';
import type { KeyId } from '../auth/key-record.ts';
import { type CompletedCall, UsageMeter } from './usage-meter.ts';

const MINUTE = 60_000;
const key = { id: 'aaaaaaaa' as KeyId };
const call: CompletedCall = {
  key,
  product: 'rpc',
  method: 'getSlot',
  status: 'ok',
  network: 'devnet',
  code: 0,
  bytesIn: 10,
  bytesOut: 20,
  credits: 1,
  latencyMicros: 1_000,
};

describe('usage meter', () => {
  it('has one row per key, product, method, status and minute', () => {
    const meter = new UsageMeter();
    meter.record(call, 0);
    meter.record({ ...call, method: 'getBalance' }, 0);
    meter.record({ ...call, status: 'upstream' }, 0);
    meter.record({ ...call, product: 'grpc' }, 0);
    meter.record({ ...call, key: { id: 'bbbbbbbb' as KeyId } }, 0);
    meter.record({ ...call, key: null, status: 'client' }, 0);
    meter.record(call, MINUTE);
    expect(meter.drain().map(({ requests }) => requests)).toEqual([1, 1, 1, 1, 1, 1, 1]);
  });

  it('has rows per network and error code, with a limit on the codes that nodes choose', () => {
    const meter = new UsageMeter();
    meter.record({ ...call, network: 'testnet' }, 0);
    for (const code of ['OVERLOADED', 'NOT_FOUND', 'unheard of'])
      meter.record({ ...call, status: 'upstream', code }, 0);
    for (let code = -1; code >= -103; code--) meter.record({ ...call, status: 'rpcError', code }, 0);
    const rows = meter.drain();
    expect(rows.filter(({ requests }) => requests === 1)).toHaveLength(rows.length - 1);
    expect(rows.filter(({ status }) => status === 'rpcError')).toHaveLength(101);
    expect(rows.find(({ requests }) => requests > 1)).toMatchObject({ code: 'other', requests: 3 });
    expect(
      rows.filter(({ status }) => status !== 'rpcError').map(({ code, network }) => [network, code]),
    ).toEqual([
      ['testnet', ''],
      ['devnet', 'OVERLOADED'],
      ['devnet', 'NOT_FOUND'],
      ['devnet', 'other'],
    ]);
  });

  it('has rows for networks of any name', () => {
    const meter = new UsageMeter();
    const names = ['constructor', ...Array.from({ length: 20 }, (_, index) => `n${index}`)] as Network[];
    for (const network of [...names, ...names]) meter.record({ ...call, network }, 0);
    meter.record({ ...call, network: null }, 0);
    expect(meter.drain().map(({ network, requests }) => [network, requests])).toEqual([
      ...names.map((network) => [network, 2]),
      [null, 1],
    ]);
    meter.record({ ...call, network: 'n1' as Network }, MINUTE);
    expect(meter.drain()).toMatchObject([{ network: 'n1', requests: 1 }]);
  });

  it('counts all unknown methods as `other`', () => {
    const meter = new UsageMeter();
    for (const method of ['getAsset', 'constructor', '__proto__', '']) meter.record({ ...call, method }, 0);
    expect(meter.drain()).toMatchObject([{ method: 'other', requests: 4 }]);
  });

  it('returns totals, so that a row written twice counts once', () => {
    const meter = new UsageMeter();
    meter.record(call, 0);
    expect(meter.drain()).toMatchObject([{ requests: 1 }]);
    expect(meter.drain()).toEqual([]);
    meter.record(call, 1);
    expect(meter.drain()).toMatchObject([{ requests: 2 }]);
    expect(meter.snapshot()).toMatchObject([{ requests: 2 }]);
  });

  it('returns the final row of a minute after the minute has ended', () => {
    const meter = new UsageMeter();
    meter.record(call, 0);
    meter.drain();
    meter.record(call, 1);
    meter.record(call, MINUTE);
    expect(meter.drain()).toMatchObject([
      { minute: 0, requests: 2 },
      { minute: 1, requests: 1 },
    ]);
    expect(meter.snapshot()).toMatchObject([{ minute: 1 }]);
  });

  it('never counts into a past minute, even when the clock is set back', () => {
    const meter = new UsageMeter();
    meter.record(call, 10 * MINUTE);
    meter.record(call, 3 * MINUTE);
    expect(meter.drain()).toMatchObject([{ minute: 10, requests: 2 }]);
  });

  it('limits its rows and counts the calls beyond them', () => {
    const meter = new UsageMeter({ rowsMax: 2 });
    for (const method of ['getSlot', 'getBalance', 'getHealth', 'getBlock'])
      meter.record({ ...call, method }, 0);
    expect([meter.drain().length, meter.uncounted]).toEqual([2, 2]);
    for (const method of ['getSlot', 'getBalance']) meter.record({ ...call, method }, MINUTE);
    expect([meter.drain().length, meter.uncounted]).toEqual([2, 2]);
  });

  it('handles very many open rows at the end of a minute', () => {
    const meter = new UsageMeter();
    for (let each = 0; each < 150_000; each++) meter.record({ ...call, key: { id: `${each}` as KeyId } }, 0);
    meter.record(call, MINUTE);
    expect([meter.drain().length, meter.uncounted]).toEqual([150_001, 0]);
  });
});
