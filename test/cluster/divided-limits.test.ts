import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dividedFields } from '../../src/app/cluster/worker-configuration.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/operating.md'), 'utf8');
const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

it('the page for operators names each limit that workers divide', () => {
  const told = [...page.matchAll(/^\| `\[(\w+)\]` \| ([^|]+) \|$/gm)].map(([, section, fields = '']) => [
    section,
    [...fields.matchAll(/`(\w+)`/g)].map(([, field]) => field),
  ]);
  const divided = Object.entries(dividedFields).map(([section, fields]) => [
    snakeCase(section),
    fields.map(snakeCase),
  ]);
  expect(told).toEqual(divided);
});
