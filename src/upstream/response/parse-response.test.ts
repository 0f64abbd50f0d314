import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { locateResponse } from './parse-response.ts';

const locate = (text: string, id = 7, isForOne = false): { body: string; errorCode: number } | null => {
  const answer = locateResponse(Buffer.from(text), id, isForOne);
  return answer && { body: answer.body.toString('utf8'), errorCode: answer.errorCode };
};

describe('locateResponse', () => {
  it("reads Agave's format, with or without a newline", () => {
    expect(locate('{"jsonrpc":"2.0","result":{"a":[1]},"id":7}\n')).toEqual({
      body: '{"a":[1]}',
      errorCode: 0,
    });
    expect(locate('{"jsonrpc":"2.0","result":null,"id":7}')).toEqual({ body: 'null', errorCode: 0 });
    expect(locate('{"jsonrpc":"2.0","error":{"code":-32602,"message":"x"},"id":7}')).toEqual({
      body: '{"code":-32602,"message":"x"}',
      errorCode: -32602,
    });
  });

  it.each([
    ['another id', '{"jsonrpc":"2.0","result":1,"id":8}'],
    ['an id with the same last digit', '{"jsonrpc":"2.0","result":1,"id":17}'],
    ['no id', '{"jsonrpc":"2.0","result":1}'],
    ['a null id with a result', '{"jsonrpc":"2.0","result":1,"id":null}'],
    ['neither result nor error', '{"jsonrpc":"2.0","id":7}'],
    ['two results', '{"id":7,"result":1,"result":2}'],
    ['a name with escapes', '{"id":7,"result":1,"\\u0072esult":2}'],
    ['an error without a code', '{"jsonrpc":"2.0","error":"no","id":7}'],
    ['a truncation after a brace', '{"jsonrpc":"2.0","id":7,"result":{"a":{"b":1}'],
    ['an empty result', '{"jsonrpc":"2.0","result":,"id":7}'],
    ['trailing data', '{"id":7,"result":1}{"id":7,"result":1}'],
    ['trailing data in Agave’s format', '{"jsonrpc":"2.0","result":1,"id":7} {}'],
    ['HTML where the result should be', '{"jsonrpc":"2.0","result":<html>oops,"id":7}'],
    ['a result and an error, in Agave’s format', '{"jsonrpc":"2.0","result":{},"error":{"code":1},"id":7}'],
    ['a number with a leading zero', '{"id":7,"result":01}'],
    ['a bad escape', '{"id":7,"result":"\\x"}'],
    ['excessive nesting', `{"id":7,"result":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ])('rejects %s', (_name, text) => {
    expect(locate(text)).toBeNull();
  });

  it('rejects invalid UTF-8', () => {
    const bytes = Buffer.from('{"jsonrpc":"2.0","result":"\xff\xfe","id":7}', 'latin1');
    expect(locateResponse(bytes, 7)).toBeNull();
  });

  it('prefers an error over a null result in any order and size', () => {
    for (const message of ['Node is behind', 'x'.repeat(10_000)]) {
      const error = `{"code":-32005,"message":"${message}"}`;
      const found = { body: error, errorCode: -32005 };
      expect(locate(`{"jsonrpc":"2.0","result":null,"error":${error},"id":7}`)).toEqual(found);
      expect(locate(`{"jsonrpc":"2.0","error":${error},"result":null,"id":7}`)).toEqual(found);
    }
  });

  const long = `"${'x'.repeat(10_000)}"`;
  it.each([
    ['with an unclosed value', `{"a":${long}`],
    ['with a bare word as value', `x${long}`],
    ['with both a result and an error', `{"a":${long}},"error":{"code":-32005,"message":"x"}`],
    ['with a broken value and an error inside', `{"error":${long}]}`],
  ])('rejects a large response %s', (_name, value) => {
    expect(locate(`{"jsonrpc":"2.0","result":${value},"id":7}`)).toBeNull();
    expect(locate(`{"jsonrpc":"2.0","result":${value},"id":7}`, 7, true)).toBeNull();
  });

  it.each([
    ['followed by a second one', `{"a":${long}},"id":7}{"jsonrpc":"2.0","result":{}`],
    ['that contains another response', `{"a":${long}},"id":1},{"jsonrpc":"2.0","result":{"a":1}`],
    ['with invalid JSON inside', `{"a":${long},]}`],
    ['with excessive nesting', `[${long},${'['.repeat(300)}${']'.repeat(300)}]`],
  ])('rejects a large response %s', (_name, value) => {
    expect(locate(`{"jsonrpc":"2.0","result":${value},"id":7}`)).toBeNull();
  });

  it('rejects a large response for one caller that contains another envelope', () => {
    const text = `{"jsonrpc":"2.0","result":${long},"id":7}`;
    expect(locate(text + text, 7, true)).toBeNull();
    const inside = JSON.stringify([text, long]);
    expect(locate(`{"jsonrpc":"2.0","result":${inside},"id":7}`, 7, true)?.body).toBe(inside);
  });

  it('accepts a large result that contains an error member', () => {
    for (const value of [long, `[${long}]`, `{"a":${long}}`, `{"value":{"error":"x","logs":[${long}]}}`]) {
      for (const isForOne of [false, true]) {
        const found = locate(`{"jsonrpc":"2.0","result":${value},"id":7}\n`, 7, isForOne);
        expect(found).toEqual({ body: value, errorCode: 0 });
      }
    }
  });

  it('rejects an oversized error', () => {
    const sized = (data: string): string =>
      `{"jsonrpc":"2.0","error":{"code":-32000,"message":"m","data":"${data}"},"id":7}`;
    expect(locate(sized('x'.repeat(1_000_000)))?.errorCode).toBe(-32000);
    expect(locate(sized('x'.repeat(1_100_000)))).toBeNull();
  });

  it('accepts an error without an id if the node could not read the request', () => {
    const text = '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}\n';
    expect(locate(text)?.errorCode).toBe(-32700);
    expect(locate('{"jsonrpc":"2.0","error":{"code":-32005,"message":"x"},"id":null}')).toBeNull();
  });

  it('agrees with JSON.parse for any order and spacing', () => {
    const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
    const other = fc.record({ jsonrpc: fc.constant('2.0'), extra: fc.json() });
    fc.assert(
      fc.property(fc.json(), other, space, fc.nat(5), (result, more, gap, turn) => {
        const members = [
          ['id', '7'],
          ['result', result],
          ['jsonrpc', JSON.stringify(more.jsonrpc)],
          ['extra', more.extra],
        ].map(([name, text]) => `${gap}"${name}"${gap}:${gap}${text}${gap}`);
        const rotated = [...members.slice(turn % 4), ...members.slice(0, turn % 4)];
        expect(locate(`{${rotated.join(',')}}`)?.body.trim()).toBe(result.trim());
      }),
    );
  });
});
