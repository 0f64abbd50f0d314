import { expect, it } from 'vitest';
import { splitGroups } from './argument-groups.ts';

const several = new Map([
  ['--account', ['ADDRESS', 'FILE']],
  ['--clone', null],
]);

it('separates options with several values, also repeated and with "="', () => {
  const args = [
    '--reset',
    '--clone',
    'a',
    'b',
    '--account',
    'x',
    'y',
    '--clone=c',
    'd',
    '-q',
    '--account',
    'v',
    'w',
  ];
  const { rest, groups } = splitGroups(args, several);
  expect(rest).toEqual(['--reset', '-q']);
  expect(groups.get('--clone')).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  expect(groups.get('--account')).toEqual([
    ['x', 'y'],
    ['v', 'w'],
  ]);
});

it.each([
  [['--clone'], '--clone needs a value'],
  [['--clone', '--reset'], '--clone needs a value'],
  [['--account', 'x'], '--account needs two values: --account ADDRESS FILE'],
])('rejects %j', (args, text) => {
  expect(() => splitGroups(args, several)).toThrow(text);
});
