import { describe, expect, it } from 'vitest';
import type { PreflightFault } from '../outcome.ts';
import { preflightFault } from './attempt.ts';

const fault = (message: unknown, data?: unknown, code = -32002): PreflightFault | null =>
  preflightFault({ body: Buffer.from(JSON.stringify({ code, message, data })), errorCode: code });

describe('preflightFault', () => {
  it('reads the error data', () => {
    expect(fault('x', { err: 'BlockhashNotFound' })).toBe('blockhash-not-found');
    expect(fault('x', { err: 'AlreadyProcessed' })).toBe('already-processed');
    expect(fault('Blockhash not found', { err: 'AccountNotFound' })).toBeNull();
    expect(fault('x', { err: 'constructor' })).toBeNull();
  });

  it('reads the message without data', () => {
    expect(fault('Transaction simulation failed: Blockhash not found')).toBe('blockhash-not-found');
    expect(fault('Transaction simulation failed: This transaction has already been processed')).toBe(
      'already-processed',
    );
    expect(fault('Transaction simulation failed: x', null)).toBeNull();
    expect(fault('x', { err: { InstructionError: [0, { Custom: 1 }] } })).toBeNull();
  });

  it('returns null for other errors', () => {
    expect(fault({ toString: 1 })).toBeNull();
    expect(fault('Blockhash not found', undefined, -32603)).toBeNull();
  });
});
