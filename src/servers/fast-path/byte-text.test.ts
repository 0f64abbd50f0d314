import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteText } from './byte-text.ts';

it('writes texts, numbers and bytes as they would be joined', () => {
  const text = new ByteText(10_000);
  const part = fc.oneof(
    fc.string({ unit: 'binary-ascii', maxLength: 40 }),
    fc.nat(),
    fc.integer({ min: 0, max: 0xffff_ffff }),
    fc.maxSafeNat(),
    fc.constantFrom(-1, 0.5, 1e21, 2 ** 32, 9, 10, 99, 100, 0xffff_ffff),
    fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      text.length = 0;
      for (const each of parts) {
        if (typeof each === 'string') text.text(each);
        else if (typeof each === 'number') text.number(each);
        else text.copy(each);
      }
      const joined = parts.map((each) => (Buffer.isBuffer(each) ? each.toString('latin1') : String(each)));
      expect(text.bytes.toString('latin1', 0, text.length)).toBe(joined.join(''));
    }),
  );
});
