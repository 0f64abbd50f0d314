import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

export const read = (file: string): string => readFileSync(join(root, file), 'utf8');

export const pages: readonly string[] = [
  ...['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md'].filter((name) =>
    existsSync(join(root, name)),
  ),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .sort(),
];

export const withoutCode = (text: string): string => text.replace(/^ *```[\s\S]*?^ *```$/gm, '');

export const codeBlocks = (file: string): { language: string; code: string }[] =>
  [...read(file).matchAll(/^ *```(\w*)\n([\s\S]*?)^ *```$/gm)].map(([, language = '', code = '']) => ({
    language,
    code,
  }));

export const blocks = (file: string, language: string): string[] =>
  codeBlocks(file).flatMap((block) => (block.language === language ? [block.code] : []));

export const rowsIn = (text: string): string[][] => {
  const rows = /(?:^\|.*(?:\n|$))+/m.exec(text)?.[0].trimEnd().split('\n') ?? [];
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
};

export const table = (file: string, heading: string): string[][] =>
  rowsIn(read(file).split(new RegExp(`^#+ ${heading}$`, 'm'))[1] ?? '');
