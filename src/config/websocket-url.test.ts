import { Connection } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { websocketUrlOf } from './configuration.ts';

describe('the WebSocket address of a node', () => {
  it.each([
    ['https://host', 'wss://host'],
    ['https://host/path?api-key=x', 'wss://host/path?api-key=x'],
    ['http://127.0.0.1:8899', 'ws://127.0.0.1:8900'],
    ['http://127.0.0.1:8899/', 'ws://127.0.0.1:8900/'],
    ['https://host:443/path', 'wss://host:444/path'],
    ['http://[::1]:8899/x', 'ws://[::1]:8900/x'],
  ])('is derived from %s as clients do', (url, expected) => {
    expect(websocketUrlOf(url)).toBe(expected);
    // What @solana/web3.js would connect to; it keeps the address to itself.
    const { _rpcWebSocket: client } = new Connection(url) as unknown as {
      _rpcWebSocket: { address: string };
    };
    if (!url.includes('[')) expect(client.address).toBe(expected);
  });

  it('keeps what @solana/web3.js stumbles over: user and password, a colon in the path', () => {
    expect(websocketUrlOf('https://host/a:8899/b')).toBe('wss://host/a:8899/b');
    expect(websocketUrlOf('https://user:123@host:8899/x')).toBe('wss://user:123@host:8900/x');
    expect(websocketUrlOf('https://user:123@host/x')).toBe('wss://user:123@host/x');
  });

  it('is none where there is no next port', () => {
    expect(websocketUrlOf('http://host:65535/')).toBeNull();
  });
});
