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
    ['a truncated key', `["${key.slice(0, 30)}`, '["svc_rpc_live_[redacted]'],
    ['a key in a URL', `"http://h/?api-key=${key}&x=1"`, '"http://h/?api-key=[redacted]&x=1"'],
    ['a member api-key', '{"api-key":"abc","x":1}', '{"api-key":"[redacted]","x":1}'],
    ['a truncated password', '{"password":"abc', '{"password":"[redacted]"'],
    ['a keypair as numbers', '{"secretKey":[1,2,3],"x":1}', '{"secretKey":"[redacted]","x":1}'],
    ['a name with an escaped letter', '{"pass\\u0077ord":"abc"}', '{"pass\\u0077ord":"[redacted]"}'],
    [
      'a member inside another of the same name',
      '{"secret":["a",{"secret":"b"}],"x":1}',
      '{"secret":"[redacted]","x":1}',
    ],
    ['a name after a surplus quote', 'a="{"apiKey":"b"}"', 'a="{"apiKey":"[redacted]"}"'],
    ['a name with a leading colon', '{"a":"x",":password":"b"}', '{"a":"x",":password":"[redacted]"}'],
    ['a secret with an escaped line break', '{"pwd":"a\\\nb"}', '{"pwd":"[redacted]"}'],
    ['a list with a bracket in a string', '{"pwd":["a]b","c"],"x":1}', '{"pwd":"[redacted]","x":1}'],
    ['an authorization', 'Authorization: Bearer abc.def', 'Authorization: Bearer [redacted]'],
  ])('hides %s', (_, text, shown) => {
    expect(show(text)).toBe(shown);
    expect(withoutSecrets(shown)).toBe(shown);
  });

  it.each([
    ['escaped quotes', '\\"'],
    ['quotes', '"'],
    ['secret names', '"pwd":'],
    ['backslashes', '\\'],
  ])('is scanned in linear time if it consists of %s', (_, part) => {
    // An escaped line break belongs to the string.
    const text = `${`["a" ${part.repeat(65_536)}`.slice(0, 65_534)}\\\n`;
    // A scan that restarts at each quote takes seconds.
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
