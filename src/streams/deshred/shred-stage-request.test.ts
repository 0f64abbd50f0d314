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
  throw new Error('it was not rejected');
}

const one = new Map([['name', {}]]);
const reconnect = '__autoreconnect';

describe('SubscribeRequest on the shred stage', () => {
  it.each<[string, SubscribeRequest]>([
    ['transactions_status', { transactionsStatus: one }],
    ['blocks_meta', { blocksMeta: ['name'] }],
  ])('is rejected with %s, with the field and a remedy', (field, request) => {
    const { code, message } = refusal({ ...request, transactions: one });
    expect(code).toBe('INVALID_ARGUMENT');
    expect(message).toBe(
      `failed to create filter: ${field}: the shred stage sends transactions and slots only; ` +
        'for other updates use the standard service with a svc_grpc_live_ key',
    );
  });

  it('is rejected with owners of token accounts, which are unknown before execution', () => {
    const { code, message } = refusal({ transactions: new Map([['t', { tokenAccounts: 'all' }]]) });
    expect(code).toBe('INVALID_ARGUMENT');
    expect(message).toContain(
      'failed to create filter: token_accounts: owners of token accounts are unknown',
    );
  });

  it('is accepted with the filters of clients in reconnect mode', () => {
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

  it('ignores failure and commitment, which are not known yet', () => {
    const filter = { vote: false, failed: true, accountInclude: [] };
    const request = shredStageRequest({ transactions: new Map([['name', filter]]), commitment: 'finalized' });
    expect(request.transactions?.get('name')).toEqual({ vote: false, accountInclude: [] });
    expect(request.commitment).toBeUndefined();
  });
});
