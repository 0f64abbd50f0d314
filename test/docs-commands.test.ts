import { describe, expect, it } from 'vitest';
import { pages, read } from './project/pages.ts';
import { commands } from './project/reference-blocks.ts';

const optionsIn = (text: string): string[] => [...text.matchAll(/--[a-z][a-z-]*/g)].map(([name]) => name);

const helpOf = (name: string): string => {
  const { help } = commands[name as keyof typeof commands];
  return ['reload', 'config', 'doctor'].includes(name) ? help + commands.up.help : help;
};

const names = Object.keys(commands).join('|');

/** `solway NAME …` or one of its two forms in a clone, up to the end of the line or of the code span. */
const CALL = new RegExp(
  `(?:npm run solway -- |\\bsolway )(${names})\\b([^\\n\`]*)|npm start -- ([^\\n\`]*)`,
  'g',
);

const calls = pages.flatMap((page) =>
  [...read(page).matchAll(CALL)].map(([text, name = 'up', rest = '', start = '']) => ({
    page,
    name,
    text,
    action: /^ ([a-z]+)/.exec(rest)?.[1],
    options: optionsIn(rest + start).filter((option) => option !== '--help'),
  })),
);

/** Without the page that mentions commands in prose. */
const inCode = calls.filter(({ page }) => page !== 'CHANGELOG.md');

describe('commands in the documentation', () => {
  it('name existing options', () => {
    expect(calls.length).toBeGreaterThan(40);
    const wrong = calls.filter(({ name, options }) =>
      options.some((option) => !optionsIn(helpOf(name)).includes(option)),
    );
    expect(wrong).toEqual([]);
  });

  it('name existing actions', () => {
    const withActions = ['keys', 'customers', 'upstream', 'db', 'operator', 'config'];
    const actions = inCode.filter(({ name, action }) => withActions.includes(name) && action !== undefined);
    expect(actions.length).toBeGreaterThan(20);
    const known = ({ name, action }: (typeof actions)[number]): boolean =>
      new RegExp(`^ {2}${action}\\b`, 'm').test(helpOf(name));
    expect(actions.filter((call) => !known(call))).toEqual([]);
  });

  it('name existing scripts of package.json', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/npm run ([\w:-]+)/g)].map(([, script = '']) => ({ page, script })),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ script }) => !(script in scripts))).toEqual([]);
  });
});
