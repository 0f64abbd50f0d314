import { describe, expect, it } from 'vitest';
import { Failure } from './errors.ts';
import { endSingle, failureBody, joinBatch, pushFailure, pushResponse } from './response-envelope.ts';

const text = (pieces: Buffer[]): string => Buffer.concat(pieces).toString();
const result = (body: string, id: string): Buffer[] => {
  const pieces: Buffer[] = [];
  pushResponse(pieces, { body: Buffer.from(body), errorCode: 0 }, Buffer.from(id));
  return pieces;
};

describe('response envelope', () => {
  it('wraps the received bytes with the id of the caller', () => {
    expect(text(endSingle(result('18446744073709551615', '9007199254740993')))).toBe(
      '{"jsonrpc":"2.0","result":18446744073709551615,"id":9007199254740993}\n',
    );
  });

  it('passes an error of a node on unchanged', () => {
    const pieces: Buffer[] = [];
    const body = Buffer.from('{"code":-32005,"message":"Node is unhealthy","data":{"numSlotsBehind":null}}');
    pushResponse(pieces, { body, errorCode: -32005 }, Buffer.from('"a"'));
    expect(text(pieces)).toBe(`{"jsonrpc":"2.0","error":${body},"id":"a"}`);
  });

  it('joins batch responses in order', () => {
    expect(text(joinBatch([result('1', '1'), result('2', '2')]))).toBe(
      '[{"jsonrpc":"2.0","result":1,"id":1},{"jsonrpc":"2.0","result":2,"id":2}]\n',
    );
  });
});

describe('failure envelope', () => {
  it('contains code and facts in data, but not the cause', () => {
    const failure = new Failure('RATE_LIMITED', {
      facts: { limit: 5 },
      retryAfter: 3,
      cause: new Error('secret'),
    });
    expect(JSON.parse(String(failureBody(failure)))).toEqual({
      code: -32043,
      message: 'Rate limit exceeded: retry after the delay given in Retry-After',
      data: { code: 'RATE_LIMITED', limit: 5, retryAfter: 3 },
    });
  });

  it('has no data for JSON-RPC codes, as Agave', () => {
    const pieces: Buffer[] = [];
    pushFailure(pieces, new Failure('PARSE_ERROR'), Buffer.from('null'));
    expect(text(pieces)).toBe('{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}');
  });

  it('omits jsonrpc for a call without a version', () => {
    const pieces: Buffer[] = [];
    pushFailure(pieces, new Failure('UNSUPPORTED_VERSION'), Buffer.from('7'));
    expect(text(pieces)).toBe(
      '{"error":{"code":-32600,"message":"Unsupported JSON-RPC protocol version"},"id":7}',
    );
  });
});
