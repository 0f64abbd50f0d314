import { describe, expect, it } from 'vitest';
import { minimumOf, msOf } from '../../../test/project/minimum-of.ts';
import { generateApiKey } from '../auth/api-key.ts';
import { redactBody, redactText, withoutSecrets } from './redact-body.ts';

describe('redacted body', () => {
  const { text: key } = generateApiKey('rpc');
  const show = (text: string, max = 2_048): string => redactBody(Buffer.from(text), max);

  it.each([
    '{"tokenAccount":"a","token_program":"b","tokenAmount":{"amount":"7"},"uiTokenAmount":"c","programId":"d"}',
    '{"pubkey":"a","accountKeys":["b"],"writableKeys":["c"],"mint":"d","preTokenBalances":[],"publicKey":"e"}',
  ])('keeps %s', (text) => {
    expect(show(text)).toBe(text);
  });

  it.each([
    ['a key', `["${key}"]`, '["svc_rpc_live_[redacted]"]'],
    ['a key that the cut goes through', `["${key.slice(0, 30)}`, '["svc_rpc_live_[redacted]'],
    ['a key behind a URL', `"http://h/?api-key=${key}&x=1"`, '"http://h/?api-key=[redacted]&x=1"'],
    ['a member api-key', '{"api-key":"abc","x":1}', '{"api-key":"[redacted]","x":1}'],
    ['a password that the cut goes through', '{"password":"abc', '{"password":"[redacted]"'],
    ['a keypair as numbers', '{"secretKey":[1,2,3],"x":1}', '{"secretKey":"[redacted]","x":1}'],
    ['a name that is written otherwise', '{"pass\\u0077ord":"abc"}', '{"pass\\u0077ord":"[redacted]"}'],
    [
      'one member in another of that name',
      '{"secret":["a",{"secret":"b"}],"x":1}',
      '{"secret":"[redacted]","x":1}',
    ],
    ['a name behind a quote too many', 'a="{"apiKey":"b"}"', 'a="{"apiKey":"[redacted]"}"'],
    [
      'a name behind a text that ends like one',
      '{"a":"x",":password":"b"}',
      '{"a":"x",":password":"[redacted]"}',
    ],
    ['a secret with a line break that is escaped', '{"pwd":"a\\\nb"}', '{"pwd":"[redacted]"}'],
    ['a list with a bracket in a text', '{"pwd":["a]b","c"],"x":1}', '{"pwd":"[redacted]","x":1}'],
    ['an authorization', 'Authorization: Bearer abc.def', 'Authorization: Bearer [redacted]'],
  ])('hides %s', (_, text, shown) => {
    expect(show(text)).toBe(shown);
    expect(withoutSecrets(shown)).toBe(shown);
  });

  it.each([
    ['quotes that are escaped', '\\"'],
    ['quotes', '"'],
    ['secret names', '"pwd":'],
    ['backslashes', '\\'],
  ])('is scanned in linear time if it consists of %s', (_, part) => {
    // A line break that is escaped is of the text, as any other.
    const text = `${`["a" ${part.repeat(65_536)}`.slice(0, 65_534)}\\\n`;
    // What is looked at again from each quote takes seconds.
    expect(minimumOf(100, () => msOf(() => show(text, text.length)))).toBeLessThan(100);
  });

  it('is truncated between characters', () => {
    expect(show('äöü', 3)).toBe('ä');
    expect(show('abc', 2)).toBe('ab');
    expect(show('abc', 0)).toBe('');
  });

  it('has no control characters, which a database may reject', () => {
    expect(show('a\0b\nc\u0085d')).toBe('a b c d');
    expect(redactText('x'.repeat(100), 64)).toHaveLength(64);
  });
});
