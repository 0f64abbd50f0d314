import { describe, expect, it } from 'vitest';
import { generateApiKey } from '../access/api-key.ts';
import { shownBody, shownText, withoutSecrets } from './shown-body.ts';

describe('a body in the log', () => {
  const { text: key } = generateApiKey('rpc');
  const show = (text: string, max = 2_048): string => shownBody(Buffer.from(text), max);

  it('is as it was when it holds no credential', () => {
    const text = '["9xQeWvG816bUx9EP",{"encoding":"base64","token":{"amount":"7"}}]';
    expect(show(text)).toBe(text);
  });

  it.each([
    ['a key', `["${key}"]`, '["svc_rpc_live_[redacted]"]'],
    ['a key that the cut goes through', `["${key.slice(0, 30)}`, '["svc_rpc_live_[redacted]'],
    ['a key behind a URL', `"http://h/?api-key=${key}&x=1"`, '"http://h/?api-key=[redacted]&x=1"'],
    ['a member api-key', '{"api-key":"abc","x":1}', '{"api-key":"[redacted]","x":1}'],
    ['a password with quotes in it', '{"password": "a\\"b", "x":1}', '{"password": "[redacted]", "x":1}'],
    ['a password that the cut goes through', '{"password":"abc', '{"password":"[redacted]"'],
    ['a keypair as numbers', '{"secretKey":[1,2,3],"x":1}', '{"secretKey":"[redacted]","x":1}'],
    ['an authorization', 'Authorization: Bearer abc.def', 'Authorization: Bearer [redacted]'],
  ])('shows nothing of %s', (_, text, shown) => {
    expect(show(text)).toBe(shown);
    expect(withoutSecrets(shown)).toBe(shown);
  });

  it('is cut, and never within a character', () => {
    expect(show('äöü', 3)).toBe('ä');
    expect(show('abc', 2)).toBe('ab');
    expect(show('abc', 0)).toBe('');
  });

  it('holds no control character, which a database could refuse', () => {
    expect(show('a\0b\nc\u0085d')).toBe('a b c d');
    expect(shownText('x'.repeat(100), 64)).toHaveLength(64);
  });
});
