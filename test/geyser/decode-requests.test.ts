import {
  SubscribeRequest as Published,
  SubscribeDeshredRequest as PublishedDeshred,
} from '@triton-one/yellowstone-grpc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeSubscribeDeshredRequest,
  decodeSubscribeRequest,
} from '../../src/protocol/geyser/decode-subscribe-request.ts';
import { ProtobufWriter } from '../../src/protocol/geyser/protobuf-writer.ts';
import {
  encodeSubscribeDeshredRequest,
  encodeSubscribeRequest,
} from '../../src/protocol/geyser/subscribe-request.ts';
import { GrpcError } from '../../src/protocol/grpc/status.ts';
import { address } from '../../src/solana/address.ts';
import { deshredRequest, request } from './arbitrary-request.ts';

const KEY = '11111111111111111111111111111111';
const OTHER = 'Vote111111111111111111111111111111111111111';
const SIGNATURE = '1'.repeat(64);
const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const writer = (): ProtobufWriter => new ProtobufWriter();

/** A value without empty fields, which decoding omits. */
function withoutEmpty(value: unknown): unknown {
  if (value instanceof Map) return new Map([...value].map(([name, filter]) => [name, withoutEmpty(filter)]));
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map(withoutEmpty);
  const empty = (each: unknown) =>
    Array.isArray(each) ? each.length === 0 : each instanceof Map && each.size === 0;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== undefined && !empty(each))
      .map(([name, each]) => [name, withoutEmpty(each)]),
  );
}

const withDataFilter = (filter: ProtobufWriter): Uint8Array =>
  writer()
    .message(1, writer().string(1, 'a').message(2, writer().message(4, filter)))
    .finish();
const withTransactions = (filter: ProtobufWriter): Uint8Array =>
  writer().message(3, writer().string(1, 'a').message(2, filter)).finish();
const memcmp = (field: number, text: string): Uint8Array =>
  withDataFilter(writer().message(1, writer().string(field, text)));

function faultOf(bytes: Uint8Array): string {
  try {
    decodeSubscribeRequest(bytes);
  } catch (error) {
    if (error instanceof GrpcError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'none';
}

describe('decoding a request', () => {
  it('reads the encoding of encodeSubscribeRequest', () => {
    fc.assert(
      fc.property(request, (original) => {
        const read = decodeSubscribeRequest(encodeSubscribeRequest(original));
        expect(read).toEqual(original.ping === undefined ? withoutEmpty(original) : { ping: original.ping });
      }),
      { numRuns: 500, endOnFailure: true },
    );
  });

  it('reads the encoding of the published codec', () => {
    const lists = { accountInclude: [KEY], accountExclude: [OTHER], accountRequired: [KEY, OTHER] };
    const filters = { vote: true, failed: false, signature: SIGNATURE, ...lists };
    const cuckoo = { bucketCount: 1, entriesPerBucket: 4, fingerprintBits: 16, hashAlgorithm: 2 };
    const data = Uint8Array.of(1, 2);
    const slots = { s: { filterByCommitment: true, interslotUpdates: false } };
    const blocks = { accountInclude: [KEY], includeTransactions: true, includeAccounts: false };
    const wire = Published.encode(
      Published.fromPartial({
        accounts: {
          a: {
            ...{ account: [KEY], owner: [OTHER], nonemptyTxnSignature: true },
            filters: [
              { memcmp: { offset: '5', bytes: data } },
              { datasize: '165' },
              { tokenAccountState: true },
              ...['eq', 'ne', 'lt', 'gt'].map((compare) => ({ lamports: { [compare]: '9' } })),
            ],
            cuckooAccountsFilter: { ...cuckoo, data, hashSeed: '9' },
          },
        },
        slots,
        transactions: { t: filters },
        transactionsStatus: { u: filters },
        blocks: { b: { ...blocks, includeEntries: true } },
        ...{ blocksMeta: { m: {} }, entry: { e: {} }, commitment: 1, fromSlot: '7' },
        accountsDataSlice: [{ offset: '1', length: '2' }],
      } as never),
    ).finish();
    expect(decodeSubscribeRequest(wire)).toEqual({
      accounts: new Map([
        [
          'a',
          {
            ...{ account: [KEY], owner: [OTHER], nonemptyTxnSignature: true },
            filters: [
              { kind: 'memcmp', offset: 5n, bytes: data },
              { kind: 'dataSize', bytes: 165n },
              { kind: 'tokenAccountState' },
              ...['eq', 'ne', 'lt', 'gt'].map((compare) => ({ kind: 'lamports', compare, value: 9n })),
            ],
            cuckooAccounts: { ...cuckoo, data, hashSeed: 9n },
          },
        ],
      ]),
      slots: new Map([['s', slots.s]]),
      transactions: new Map([['t', filters]]),
      transactionsStatus: new Map([['u', filters]]),
      blocks: new Map([['b', { ...blocks, includeEntries: true }]]),
      ...{ blocksMeta: ['m'], entry: ['e'], commitment: 'confirmed', fromSlot: 7n },
      accountsDataSlice: [{ offset: 1n, length: 2n }],
    });
  });

  it('reads SubscribeDeshred requests of both codecs', () => {
    fc.assert(
      fc.property(deshredRequest, (original) => {
        const read = original.ping === undefined ? withoutEmpty(original) : { ping: original.ping };
        expect(decodeSubscribeDeshredRequest(encodeSubscribeDeshredRequest(original))).toEqual(read);
      }),
    );
    const filter = { vote: false, accountInclude: [KEY], accountExclude: [OTHER], accountRequired: [KEY] };
    const request = { deshredTransactions: { d: filter }, slots: { s: { interslotUpdates: true } } };
    const wire = PublishedDeshred.encode(PublishedDeshred.fromPartial(request)).finish();
    expect(decodeSubscribeDeshredRequest(wire)).toEqual({
      deshredTransactions: new Map([['d', filter]]),
      slots: new Map([['s', { interslotUpdates: true }]]),
    });
  });

  it('accepts filters without a key or value, which Rust clients send', () => {
    const halves = unhex('12 03 0a 01 73' + '2a 03 0a 01 6d' + '0a 00' + '42 02 12 00');
    expect(decodeSubscribeRequest(halves)).toEqual({
      slots: new Map([['s', {}]]),
      blocksMeta: ['m'],
      accounts: new Map([['', {}]]),
      entry: [''],
    });
    expect(decodeSubscribeDeshredRequest(unhex('0a 03 0a 01 64'))).toEqual({
      deshredTransactions: new Map([['d', {}]]),
    });
  });

  it('ignores unknown fields', () => {
    const wire = writer().string(99, 'new').message(5, writer().string(7, 'x').string(1, 'm')).bool(98, true);
    expect(decodeSubscribeRequest(wire.finish())).toEqual({ blocksMeta: ['m'] });
  });

  it('treats a request that contains a ping as just a ping', () => {
    const wire = writer().message(9, writer()).uint32(6, 77).bytes(1, memcmp(3, '0').subarray(2));
    expect(decodeSubscribeRequest(wire.finish())).toEqual({ ping: 0 });
    expect(decodeSubscribeDeshredRequest(unhex('12 00 1a 03 0a 01 73'))).toEqual({ ping: 0 });
  });

  it.each([
    ['base58', 3, 'Ldp', [1, 2, 3]],
    ['base64', 4, 'AQID', [1, 2, 3]],
  ])('reads memcmp data as %s', (_name, field, text, bytes) => {
    expect(decodeSubscribeRequest(memcmp(field, text)).accounts?.get('a')?.filters).toEqual([
      { kind: 'memcmp', offset: 0n, bytes: Uint8Array.from(bytes) },
    ]);
  });
});

describe('request validation', () => {
  it.each([
    ['data for memcmp should be defined', withDataFilter(writer().message(1, writer().uint64(1, 5n)))],
    ['invalid base58', memcmp(3, '0')],
    ['invalid base64', memcmp(4, 'AQI')],
    ['data too large', memcmp(3, '1'.repeat(176))],
    ['data too large', withDataFilter(writer().message(1, writer().bytes(2, new Uint8Array(129))))],
    ['token_account_state only allowed to be true', withDataFilter(writer().bool(3, false))],
    ['cmp for lamports should be defined', withDataFilter(writer().message(4, writer()))],
    ['filter should be defined', withDataFilter(writer())],
    ['Invalid Base58 string', withTransactions(writer().string(3, '0'))],
    ['String is the wrong size', withTransactions(writer().string(4, KEY.slice(1)))],
    ['failed to decode string to signature', withTransactions(writer().string(5, '0'))],
    ['string decoded to wrong size for signature', withTransactions(writer().string(5, KEY))],
    [
      'invalid token_accounts mode value 2; expected ALL (0) or BALANCE_CHANGED (1)',
      withTransactions(writer().uint32(30, 2)),
    ],
    ['failed to create CommitmentLevel from 3', writer().uint32(6, 3).finish()],
  ])('rejects: %s', (fault, wire) => {
    expect(faultOf(wire)).toBe(`INVALID_ARGUMENT failed to create filter: ${fault}`);
  });

  it('rejects SubscribeDeshred requests with their own message', () => {
    const wire = writer()
      .message(1, writer().message(2, writer().string(2, '0')))
      .finish();
    expect(() => decodeSubscribeDeshredRequest(wire)).toThrow(
      new GrpcError('INVALID_ARGUMENT', 'failed to create deshred filter: Invalid Base58 string', {
        filter: 'deshred_transactions',
        name: '',
        field: 'account_include',
        value: '0',
      }),
    );
  });

  it('accepts strings of the maximum length', () => {
    expect(faultOf(memcmp(3, '1'.repeat(128)))).toBe('none');
    expect(faultOf(memcmp(4, Buffer.alloc(128).toString('base64')))).toBe('none');
    expect(faultOf(withTransactions(writer().string(3, address(KEY))))).toBe('none');
  });
});

describe('an encoded request', () => {
  it('requests token accounts with field 30, which the published codec lacks', () => {
    const wire = encodeSubscribeRequest({
      transactions: new Map([['a', { tokenAccounts: 'balanceChanged' as const }]]),
    });
    expect(Buffer.from(wire).toString('hex')).toBe('1a080a016112' + '03f00101');
  });

  it('contains cuckoo filters for transactions and blocks, which the published codec lacks', () => {
    const cuckooAccountInclude = {
      data: Uint8Array.of(1, 2),
      bucketCount: 1,
      entriesPerBucket: 4,
      fingerprintBits: 16,
      hashSeed: 9n,
      hashAlgorithm: 0,
    };
    const cuckoo = '0a020102' + '1001' + '1804' + '2010' + '2809';
    const original = new Map([['a', { cuckooAccountInclude }]]);
    const wires = [
      encodeSubscribeRequest({ transactions: original }),
      encodeSubscribeRequest({ blocks: original }),
    ];
    expect(wires.map((wire) => Buffer.from(wire).toString('hex'))).toEqual([
      `1a130a0161120e3a0c${cuckoo}`,
      `22130a0161120e2a0c${cuckoo}`,
    ]);
  });
});
