import { describe, expect, it } from 'vitest';
import { decodeToJson, encodeFromJson } from './json-codec.ts';

const roundTrip = (type: string, value: unknown) => decodeToJson(type, encodeFromJson(type, value));

describe('the JSON form of gRPC messages', () => {
  it('keeps maps, lists, enums, bytes and 64-bit integers', () => {
    const request = {
      accounts: {
        mine: {
          account: ['a', 'b'],
          filters: [{ memcmp: { offset: '18446744073709551615', bytes: 'AQI=' } }],
        },
      },
      slots: { all: {} },
      commitment: 'FINALIZED',
      fromSlot: '7',
    };
    expect(roundTrip('.geyser.SubscribeRequest', request)).toEqual(request);
    const meta = { preBalances: ['1', '9007199254740993'], rewards: [{ lamports: '-5' }] };
    expect(roundTrip('.solana.storage.ConfirmedBlock.TransactionStatusMeta', meta)).toEqual(meta);
  });

  it('accepts the names of the .proto file', () => {
    const request = { accounts_data_slice: [{ offset: 1, length: 2 }] };
    expect(roundTrip('.geyser.SubscribeRequest', request)).toEqual({
      accountsDataSlice: [{ offset: '1', length: '2' }],
    });
  });

  it.each([
    [{ slot: {} }, 'slot: must be a known field'],
    [{ fromSlot: 1.5 }, 'from_slot: must be an integer; write one above 2^53 as a string'],
    [{ fromSlot: '-1' }, 'from_slot: must be within the range of uint64'],
    [{ accounts: [] }, 'accounts: must be an object'],
    [{ accounts: { a: null } }, 'accounts: must be an object without null values'],
    [{ commitment: 'SOON' }, 'commitment: must be one of PROCESSED, CONFIRMED, FINALIZED'],
    [[], 'request: must be an object'],
  ])('rejects %j, naming the field', (request, message) => {
    expect(() => encodeFromJson('.geyser.SubscribeRequest', request)).toThrow(message);
  });
});
