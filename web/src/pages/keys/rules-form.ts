import type { RouteInput } from '../../../../src/control/api/contract/contract.ts';
import type { KeyJson } from '../../../../src/control/api/contract/keys.ts';
import { isoTime } from '../../format.ts';
import type { RuleName } from './key-labels.ts';

export type RulesForm = Readonly<{
  networks: readonly string[];
  cidrs: string;
  origins: string;
  methods: string;
  perSecond: string;
  burst: string;
  addressPerSecond: string;
  expiresAt: string;
  logsBodies: boolean;
  neverBack: boolean;
}>;

export const noRules: RulesForm = {
  networks: [],
  cidrs: '',
  origins: '',
  methods: '',
  perSecond: '',
  burst: '',
  addressPerSecond: '',
  expiresAt: '',
  logsBodies: false,
  neverBack: false,
};

const textOf = (value: number | null | undefined): string => (value == null ? '' : String(value));

export const rulesOf = (key: KeyJson): RulesForm => ({
  networks: key.networks ?? [],
  cidrs: key.cidrs?.join('\n') ?? '',
  origins: key.origins?.join('\n') ?? '',
  methods: key.methods?.join('\n') ?? '',
  perSecond: textOf(key.rate?.perSecond),
  burst: textOf(key.rate?.burst),
  addressPerSecond: textOf(key.addressPerSecond),
  expiresAt: key.expiresAt === null ? '' : isoTime(key.expiresAt).slice(0, 16),
  logsBodies: key.logsBodies,
  neverBack: key.neverBack,
});

type RulesBody = Required<Pick<RouteInput<'POST /customers/{customer}/keys'>['body'], RuleName>>;

const lines = (text: string): string[] | null => {
  const all = text
    .split(/[\s,]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return all.length === 0 ? null : all;
};
const numberOf = (text: string): number | null => (text.trim() === '' ? null : Number(text));

export function rulesBody(form: RulesForm): RulesBody {
  const perSecond = numberOf(form.perSecond);
  return {
    networks: form.networks.length === 0 ? null : [...form.networks],
    cidrs: lines(form.cidrs),
    origins: lines(form.origins),
    methods: lines(form.methods),
    rate: perSecond === null ? null : { perSecond, burst: numberOf(form.burst) ?? 2 * perSecond },
    addressPerSecond: numberOf(form.addressPerSecond),
    expiresAt: form.expiresAt === '' ? null : Date.parse(`${form.expiresAt}Z`),
    logsBodies: form.logsBodies,
    neverBack: form.neverBack,
  };
}
