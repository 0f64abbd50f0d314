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
  type BlocksFilter,
  encodeSubscribeDeshredRequest,
  encodeSubscribeRequest,
  type NamedFilters,
  type SubscribeRequest,
  type TransactionsFilter,
} from '../../src/protocol/geyser/subscribe-request.ts';
import { GrpcError } from '../../src/protocol/grpc/status.ts';
import { address } from '../../src/solana/address.ts';
import { deshredRequest, request } from './arbitrary-request.ts';
import { oracleDeshredRequest, oracleRequest } from './oracle-request.ts';

const KEY = '11111111111111111111111111111111';
const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const writer = (): ProtobufWriter => new ProtobufWriter();

/** A value without what is empty: reading tells nothing of what was not asked. */
function meant(value: unknown): unknown {
  if (value instanceof Map) return new Map([...value].map(([name, filter]) => [name, meant(filter)]));
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map(meant);
  const empty = (each: unknown) =>
    Array.isArray(each) ? each.length === 0 : each instanceof Map && each.size === 0;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== undefined && !empty(each))
      .map(([name, each]) => [name, meant(each)]),
  );
}

/** A request of one accounts filter of one data filter. */
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
  it('reads our own encoding', () => {
    fc.assert(
      fc.property(request, (original) => {
        const read = decodeSubscribeRequest(encodeSubscribeRequest(original));
        expect(read).toEqual(original.ping === undefined ? meant(original) : { ping: original.ping });
      }),
      { numRuns: 500, endOnFailure: true },
    );
  });

  it('reads the encoding of the published codec', () => {
    fc.assert(
      fc.property(request, ({ ping: _alone, ...original }) => {
        const wire = Published.encode(Published.fromPartial(oracleRequest(original) as never)).finish();
        const { blocksMeta, entry, ...read } = decodeSubscribeRequest(wire);
        const { blocksMeta: metaMeant = [], entry: entryMeant = [], ...rest } = withoutNewer(original);
        expect(read).toEqual(meant(rest));
        // The published codec keeps names in an object, which has an order of its own.
        expect([new Set(blocksMeta), new Set(entry)]).toEqual([new Set(metaMeant), new Set(entryMeant)]);
      }),
      { numRuns: 300, endOnFailure: true },
    );
  });

  it('reads SubscribeDeshred requests of both codecs', () => {
    fc.assert(
      fc.property(deshredRequest, (original) => {
        const read = original.ping === undefined ? meant(original) : { ping: original.ping };
        expect(decodeSubscribeDeshredRequest(encodeSubscribeDeshredRequest(original))).toEqual(read);
        const shown = oracleDeshredRequest(original) as never;
        const wire = PublishedDeshred.encode(PublishedDeshred.fromPartial(shown)).finish();
        expect(decodeSubscribeDeshredRequest(wire)).toEqual(read);
      }),
    );
  });

  it('accepts filters without key or value, as Rust clients send them', () => {
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

  it('treats a request with a ping as a ping only', () => {
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

/** What the published codec knows: cuckoo filters of accounts only, and no token accounts. */
function withoutNewer(original: SubscribeRequest): SubscribeRequest {
  const without = <F extends TransactionsFilter | BlocksFilter>(named: NamedFilters<F> | undefined) =>
    new Map(
      [...(named ?? [])].map(([name, filter]) => {
        const { tokenAccounts: _, cuckooAccountInclude: __, ...known } = filter as TransactionsFilter;
        return [name, known];
      }),
    );
  return {
    ...original,
    transactions: without(original.transactions),
    transactionsStatus: without(original.transactionsStatus),
    blocks: without(original.blocks),
  };
}

describe('an invalid request', () => {
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
  ])('is rejected: %s', (fault, wire) => {
    expect(faultOf(wire)).toBe(`INVALID_ARGUMENT failed to create filter: ${fault}`);
  });

  it('is rejected with the messages of SubscribeDeshred', () => {
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

  it('may contain the longest allowed strings', () => {
    expect(faultOf(memcmp(3, '1'.repeat(128)))).toBe('none');
    expect(faultOf(memcmp(4, Buffer.alloc(128).toString('base64')))).toBe('none');
    expect(faultOf(withTransactions(writer().string(3, address(KEY))))).toBe('none');
  });
});
