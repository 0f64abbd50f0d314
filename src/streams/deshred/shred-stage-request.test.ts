import { describe, expect, it } from 'vitest';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import { slot } from '../../solana/units.ts';
import { shredStageRequest } from './shred-stage-request.ts';

function refusal(request: SubscribeRequest): GrpcError {
  try {
    shredStageRequest(request);
  } catch (error) {
    if (error instanceof GrpcError) return error;
  }
  throw new Error('it was not refused');
}

const one = new Map([['name', {}]]);
const reconnect = '__autoreconnect';

describe('an ordinary request on the shred stage', () => {
  it.each<[string, SubscribeRequest]>([
    ['accounts', { accounts: one }],
    ['transactions_status', { transactionsStatus: one }],
    ['blocks', { blocks: one }],
    ['blocks_meta', { blocksMeta: ['name'] }],
    ['entry', { entry: ['name'] }],
  ])('is refused with %s, by the name of the field and with what to do', (field, request) => {
    const { code, message } = refusal({ ...request, transactions: one });
    expect(code).toBe('INVALID_ARGUMENT');
    expect(message).toBe(
      `failed to create filter: ${field}: the shred stage tells of transactions and slots only; ` +
        'for the rest use the standard service, which a svc_grpc_live_ key opens',
    );
  });

  it('is refused with owners of token accounts, which balances after the run would tell', () => {
    const { code, message } = refusal({ transactions: new Map([['t', { tokenAccounts: 'all' }]]) });
    expect(code).toBe('INVALID_ARGUMENT');
    expect(message).toContain(
      'failed to create filter: token_accounts: who owns token accounts is not known',
    );
  });

  it('is taken with the filters that clients in reconnect mode add', () => {
    const { transactions, slots, blocksMeta, fromSlot } = shredStageRequest({
      transactions: one,
      blocksMeta: [reconnect],
      slots: new Map([[reconnect, { interslotUpdates: true }]]),
      fromSlot: slot(5),
    });
    expect([...(transactions?.keys() ?? [])]).toEqual(['name']);
    expect(slots?.get(reconnect)).toEqual({ interslotUpdates: true });
    expect([blocksMeta, fromSlot]).toEqual([undefined, undefined]);
  });

  it('still is refused when it has another filter beside those', () => {
    expect(refusal({ blocksMeta: [reconnect, 'mine'] }).message).toContain('blocks_meta');
  });

  it('asks nothing about failure and commitment, which nobody knows yet', () => {
    const filter = { vote: false, failed: true, accountInclude: [] };
    const request = shredStageRequest({ transactions: new Map([['name', filter]]), commitment: 'finalized' });
    expect(request.transactions?.get('name')).toEqual({ vote: false, accountInclude: [] });
    expect(request.commitment).toBeUndefined();
  });

  it('may be empty, and then wants nothing', () => {
    expect(shredStageRequest({})).toEqual({ transactions: new Map(), slots: new Map() });
  });
});
