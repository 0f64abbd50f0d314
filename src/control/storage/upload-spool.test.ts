import { describe, expect, it } from 'vitest';
import { mediaTypeOf } from './upload-spool.ts';

describe('the media type shown by the first bytes of a file', () => {
  it.each([
    ['image/png', '89504e470d0a1a0a0000000d49484452'],
    ['image/jpeg', 'ffd8ffe000104a464946'],
    ['image/gif', '4749463839610100'],
    ['image/webp', '52494646240000005745425056503820'],
    ['audio/wave', '524946462400000057415645666d7420'],
    ['video/mp4', '000000206674797069736f6d00000200'],
    ['image/avif', '00000020667479706176696600000000'],
    ['video/webm', '1a45dfa39f42'],
    ['model/gltf-binary', '676c5446020000001000000'],
  ])('%s', (type, hex) => {
    expect(mediaTypeOf(Buffer.from(hex, 'hex'))).toBe(type);
  });

  it.each(['', '<html>', '<svg xmlns="', '{"name":"x"}', '%PDF-1.7', '\x89PNG', 'RIFFxxxxAVI LIST'])(
    'is null for %j',
    (text) => {
      expect(mediaTypeOf(Buffer.from(text, 'latin1'))).toBeNull();
    },
  );
});
