import { type FormEvent, useState } from 'react';
import type { KeyJson } from '../../../../src/control/api/contract/keys.ts';
import { ApiProblem, fieldProblem } from '../../api.ts';
import { usePlanNames } from '../../plan-name.tsx';
import { type Product, productNames } from '../../product-names.ts';
import { useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Checkbox, Field, FormError } from '../../ui/field.tsx';
import { SelectField } from '../../ui/select-field.tsx';
import { productUses, ruleFacts } from './key-labels.ts';
import { RulesFields } from './rules-fields.tsx';
import { noRules, type RulesForm, rulesBody } from './rules-form.ts';
import './keys.css';

const steps = ['Product', 'Rules', 'Review'] as const;

type Draft = Readonly<{ product: Product; name: string; isPublic: boolean; planId: string }>;
export type NewKey = Readonly<{ secret: string; key: KeyJson }>;

const missingIn = (step: number, { name, isPublic }: Draft, { origins }: RulesForm): ApiProblem | null => {
  if (step === 0 && name.trim() === '') return fieldProblem('name', 'Enter a name.');
  if (step === 1 && isPublic && origins.trim() === '')
    return fieldProblem('origins', 'Public keys need at least one allowed origin.');
  return null;
};

function stepOf(problem: unknown, draft: Draft): number {
  const paths = problem instanceof ApiProblem ? Object.keys(problem.fields) : [];
  if (paths.length === 0) return steps.indexOf('Review');
  return steps.indexOf(paths.some((path) => Object.hasOwn(draft, path)) ? 'Product' : 'Rules');
}

export function CreateDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  onCreated: (created: NewKey) => void;
}) {
  const { customer, user } = useSession();
  const [step, setStep] = useState(0);
  const [draft, setDraft] = useState<Draft>({ product: 'rpc', name: '', isPublic: false, planId: '' });
  const [rules, setRules] = useState<RulesForm>(noRules);
  const create = useChange('POST /customers/{customer}/keys');
  const [missing, setMissing] = useState<ApiProblem | null>(null);
  const problem = missing ?? create.error;

  const submit = (): void => {
    const { planId, ...named } = draft;
    create.mutate(
      {
        path: { customer: customer.id },
        body: { ...named, ...rulesBody(rules), ...(planId === '' ? {} : { planId }) },
      },
      { onSuccess: onCreated, onError: (thrown) => setStep(stepOf(thrown, draft)) },
    );
  };
  const next = (event: FormEvent): void => {
    event.preventDefault();
    const found = missingIn(step, draft, rules);
    setMissing(found);
    if (found !== null) return;
    create.reset();
    if (step < steps.length - 1) setStep(step + 1);
    else submit();
  };
  const back = (): void => {
    setMissing(null);
    setStep(step - 1);
  };

  return (
    <Dialog
      title={user.isOperator ? `Create API key for ${customer.name}` : 'Create API key'}
      canClose={!create.isPending}
      onClose={onClose}
    >
      <form onSubmit={next} className="stack">
        <Steps at={step} />
        {step === 0 ? (
          <Purpose draft={draft} onChange={(change) => setDraft({ ...draft, ...change })} problem={problem} />
        ) : null}
        {step === 1 ? (
          <RulesFields
            form={rules}
            onChange={(change) => setRules({ ...rules, ...change })}
            product={draft.product}
            isPublic={draft.isPublic}
            problem={problem}
          />
        ) : null}
        {step === 2 ? <Review draft={draft} rules={rules} /> : null}
        <FormError problem={problem} />
        <DialogActions>
          <Button disabled={create.isPending} onClick={step === 0 ? onClose : back}>
            {step === 0 ? 'Cancel' : 'Back'}
          </Button>
          <Button kind="primary" type="submit" busy={create.isPending}>
            {step === 2 ? 'Create key' : 'Next'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

const Steps = ({ at }: { at: number }) => (
  <ol className="steps">
    {steps.map((title, index) => (
      <li key={title} aria-current={index === at ? 'step' : undefined}>
        {title}
      </li>
    ))}
  </ol>
);

function Purpose({
  draft,
  onChange,
  problem,
}: {
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
  problem: unknown;
}) {
  const { service, user } = useSession();
  const products = (Object.keys(productNames) as Product[]).filter(
    (one) => one !== 'fs' || service.hasShredStage,
  );
  return (
    <>
      <fieldset className="stack-tight">
        <legend className="field-label">Product</legend>
        {products.map((product) => (
          <label key={product} className="pick">
            <input
              type="radio"
              name="product"
              checked={draft.product === product}
              onChange={() => onChange({ product, isPublic: product === 'rpc' && draft.isPublic })}
            />
            <span>
              <strong>{productNames[product]}</strong>
              <span className="muted">{productUses[product]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <Field label="Name" name="name" problem={problem} hint="For example: backend, browser, indexer.">
        {(field) => (
          <input
            {...field}
            className="input"
            required
            maxLength={64}
            value={draft.name}
            onChange={(event) => onChange({ name: event.target.value })}
          />
        )}
      </Field>
      {draft.product === 'rpc' ? (
        <Checkbox
          checked={draft.isPublic}
          onChange={(isPublic) => onChange({ isPublic })}
          hint="Anyone can read a key in a web page. Set allowed origins and a rate limit per IP address in the next step."
        >
          Public key (for browsers)
        </Checkbox>
      ) : null}
      {service.plans.length > 1 ? (
        <SelectField<string>
          label="Plan"
          name="planId"
          value={draft.planId}
          options={[
            ['', 'Customer’s plan'],
            ...service.plans
              .filter(({ id }) => user.isOperator || id === 'rehearsal')
              .map(({ id, name }) => [id, name] as const),
          ]}
          onChange={(planId) => onChange({ planId })}
          problem={problem}
          hint="The rehearsal plan has very low limits, to test how your application handles them."
        />
      ) : null}
    </>
  );
}

function Review({ draft, rules }: { draft: Draft; rules: RulesForm }) {
  const planName = usePlanNames();
  const body = rulesBody(rules);
  return (
    <>
      <Facts
        facts={[
          ['Product', `${productNames[draft.product]}: ${productUses[draft.product]}`],
          ['Name', draft.name],
          ['Type', draft.isPublic ? 'Public (for browsers)' : 'Secret'],
          ['Plan', draft.planId === '' ? 'Customer’s plan' : planName(draft.planId)],
          ...ruleFacts({
            ...body,
            networks: body.networks as KeyJson['networks'],
            rate: body.rate,
            addressPerSecond: body.addressPerSecond,
          } as Parameters<typeof ruleFacts>[0]),
        ]}
      />
      <p className="muted">The key is shown once, in the next dialog. Store it somewhere safe.</p>
    </>
  );
}
