import { expect, it } from 'vitest';
import { originOf } from './own-origin.ts';

const LISTENING = 'http://127.0.0.1:8080';

it.each([
  ['localhost:8080', 'http://localhost:8080'],
  ['solway.localhost', 'http://solway.localhost'],
  ['192.0.2.7:80', 'http://192.0.2.7:80'],
  ['[2001:db8::1]:8080', 'http://[2001:db8::1]:8080'],
  ['evil.example', LISTENING],
  ['localhost.evil.example', LISTENING],
  ['192.0.2.7.evil.example', LISTENING],
  ['evil.example@localhost', LISTENING],
  [null, LISTENING],
])('begins a link for the Host %s with %s', (host, origin) => {
  expect(originOf(host, null, LISTENING)).toBe(origin);
});

it('begins links with what is configured, whatever the request says', () => {
  expect(originOf('localhost', 'https://solway.example/', LISTENING)).toBe('https://solway.example');
  expect(originOf('solway.example', null, 'http://solway.example')).toBe('http://solway.example');
});
