import { describe, expect, it } from 'vitest';
import { requestHead, serverNameOf } from './request-head.ts';

const head = (url: string, headers: Record<string, string> = {}): string =>
  requestHead(new URL(url), headers).toString('latin1');

describe('requestHead', () => {
  it('contains path, query, host and configured headers', () => {
    expect(
      head('https://h.example:8443/v2/k%20y?token=t%20t', { 'X-Token': 'secret' }).split('\r\n'),
    ).toEqual([
      'POST /v2/k%20y?token=t%20t HTTP/1.1',
      'host: h.example:8443',
      'x-token: secret',
      'connection: keep-alive',
      'accept-encoding: identity',
      'content-type: application/json',
      'content-length: ',
    ]);
    expect(head('http://[::1]:80')).toContain('POST / HTTP/1.1\r\nhost: [::1]\r\n');
  });

  it('contains no duplicate and no reserved header', () => {
    const text = head('http://h.example', {
      Host: 'other.example',
      'Transfer-Encoding': 'chunked',
      'content-length': '3',
      authorization: 'a',
      Authorization: 'b',
      'Accept-Encoding': 'gzip',
    });
    expect(text).toBe(
      'POST / HTTP/1.1\r\nhost: other.example\r\nauthorization: b\r\nconnection: keep-alive\r\naccept-encoding: identity\r\ncontent-type: application/json\r\ncontent-length: ',
    );
  });

  it('rejects line breaks without naming the header', () => {
    for (const value of ['s3cret\r\nx: y', 's3cret\n', 's3cret\0']) {
      expect(() => head('http://h.example', { 'x-token': value })).toThrow(/^((?!s3cret).)*$/);
    }
    expect(() => head('http://h.example', { 'x token': 'v' })).toThrow(TypeError);
    expect(head('http://h.example', { 'x-token': 'Ċ' })).not.toContain('\n\r');
  });
});

it('serverNameOf returns the host of the URL or of the host header', () => {
  expect(serverNameOf(new URL('https://h.example:1/'), {})).toBe('h.example');
  expect(serverNameOf(new URL('https://[::1]:1/'), {})).toBe('::1');
  expect(serverNameOf(new URL('https://h.example/'), { HOST: 'other.example:5' })).toBe('other.example');
});
