import { parseSync } from 'rolldown/utils';

/** One change of one expression or statement, by offsets of the source text. */
export interface Mutant {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  /** What is changed, such as `=== to !==`. */
  readonly change: string;
  readonly replacement: string;
  readonly kind: 'expression' | 'statement';
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const SWAPPED: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '-': '+',
  '*': '+',
  '&': '|',
  '|': '&',
  '&&': '||',
  '||': '&&',
};

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
/** Types are not code; keys and imports have no other value that compiles. */
const isSkipped = (node: Node): boolean => /^TS(?!As|NonNull|Satisfies)|^Import|^Decorator/.test(node.type);

/** All mutants of a TypeScript file, in the order of the text. Code outside functions runs once and is left out. */
export function mutantsOf(path: string, text: string): Mutant[] {
  const { program } = parseSync(path, text, { lang: 'ts', sourceType: 'module' }) as unknown as {
    program: Node;
  };
  const mutants: Mutant[] = [];
  const of = (node: unknown): string => (isNode(node) ? text.slice(node.start, node.end) : '');
  const add = (
    node: Node,
    change: string,
    replacement: string,
    kind: Mutant['kind'] = 'expression',
  ): void => {
    const line = text.slice(0, node.start).split('\n').length;
    mutants.push({ start: node.start, end: node.end, line, change, replacement, kind });
  };
  const visit = (node: Node, inFunction: boolean): void => {
    if (isSkipped(node)) return;
    if (inFunction) mutate(node, of, add);
    const inside = inFunction || FUNCTIONS.has(node.type);
    for (const [field, value] of Object.entries(node)) {
      if (field === 'key' && node.computed !== true) continue;
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, inside);
    }
  };
  visit(program, false);
  return mutants.sort((a, b) => a.start - b.start || b.end - a.end);
}

type Add = (node: Node, change: string, replacement: string, kind?: Mutant['kind']) => void;

function mutate(node: Node, of: (node: unknown) => string, add: Add): void {
  const operator = String(node.operator);
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const other = SWAPPED[operator];
      if (other !== undefined)
        add(node, `${operator} to ${other}`, `(${of(node.left)}) ${other} (${of(node.right)})`);
      if (operator === '??') add(node, 'without ??', of(node.left));
      return;
    }
    case 'UnaryExpression':
      if (operator === '!') add(node, 'without !', of(node.argument));
      return;
    case 'ConditionalExpression':
      add(
        node,
        'negated condition',
        `!(${of(node.test)}) ? (${of(node.consequent)}) : (${of(node.alternate)})`,
      );
      return;
    case 'IfStatement':
      if (isNode(node.test)) add(node.test, 'negated if', `!(${of(node.test)})`);
      return;
    case 'Literal':
      mutateLiteral(node, of(node), add);
      return;
    case 'ExpressionStatement':
      if (isNode(node.expression) && /^(Call|Await|Assignment|Update)/.test(node.expression.type))
        if (!/^super\b/.test(of(node))) add(node, 'statement removed', '', 'statement');
      return;
  }
}

function mutateLiteral(node: Node, text: string, add: Add): void {
  if (typeof node.value === 'boolean') add(node, `${text} to ${!node.value}`, String(!node.value));
  if (typeof node.value === 'number') add(node, `${text} to ${text} + 1`, `(${text} + 1)`);
  if (typeof node.value === 'bigint') add(node, `${text} to ${text} + 1n`, `(${text} + 1n)`);
}

/** The text with every mutant behind a switch, which is off until the mutant of this id is chosen. */
export function withMutants(text: string, mutants: readonly (Mutant & { readonly id: number })[]): string {
  let result = text;
  for (const { id, start, end, replacement, kind } of mutants.toSorted((a, b) => b.start - a.start)) {
    const original = result.slice(start, end);
    const chosen = `globalThis.__mutant?.(${id})`;
    // In braces, because an `else` may follow.
    const mutated =
      kind === 'statement'
        ? `{ if (!${chosen}) { ${original} } }`
        : `(${chosen} ? (${replacement}) : (${original}))`;
    result = result.slice(0, start) + mutated + result.slice(end);
  }
  return result;
}
