import { type FormEvent, useState } from 'react';
import { formatMonth, formatNumberOf } from '../../format.ts';
import { limitNames, type Plan, planDifferences, textsOf } from '../../plan-limits.ts';
import { useChange } from '../../queries.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Checkbox, Field, FormError } from '../../ui/field.tsx';
import { useToast } from '../../ui/toast.tsx';
import { bodyOf, draftOf, numericLimits, type PlanDraft } from './plan-draft.ts';

/** @param plan - null: a new plan. A plan of the configuration file is only shown. */
type EditorProps = Readonly<{
  plan: Plan | null;
  /** Called after the editor was closed. */
  onUndo: (plan: Plan) => void;
  onClose: () => void;
}>;

export function PlanEditor({ plan, onUndo, onClose }: EditorProps) {
  if (plan?.source === 'file')
    return (
      <Dialog title={plan.name} onClose={onClose}>
        <p>
          Read-only here. To change it, edit <code>[plans.{plan.id}]</code> in the configuration file and
          reload.
        </p>
        <Facts facts={Object.entries(textsOf(plan)).filter(([field]) => field !== 'Name')} />
      </Dialog>
    );
  return <PlanForm plan={plan} onUndo={onUndo} onClose={onClose} />;
}

type Body = ReturnType<typeof bodyOf>;

function PlanForm({ plan, onUndo, onClose }: EditorProps) {
  const toast = useToast();
  const [draft, setDraft] = useState(() => draftOf(plan));
  const [fault, setFault] = useState<unknown>(null);
  /** The change to confirm. */
  const [body, setBody] = useState<Body | null>(null);
  const create = useChange('POST /plans');

  const edit = (more: Partial<PlanDraft>): void => {
    setDraft({ ...draft, ...more });
    setFault(null);
    create.reset();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    try {
      const filled = bodyOf(draft);
      if (plan !== null) setBody(filled);
      else
        create.mutate(
          { body: { id: draft.id.trim(), ...filled } },
          {
            onSuccess: ({ name }) => {
              toast(`Plan ${name} created.`);
              onClose();
            },
          },
        );
    } catch (problem) {
      setFault(problem);
    }
  };
  if (plan !== null && body !== null)
    return (
      <ConfirmEdit
        {...{ plan, body, onClose }}
        onUndo={() => onUndo(plan)}
        onProblem={(problem) => {
          setBody(null);
          setFault(problem);
        }}
      />
    );
  const problem = fault ?? create.error;
  const fields = { draft, edit, problem };
  return (
    <Dialog
      title={plan === null ? 'Create plan' : `Edit ${plan.name}`}
      canClose={!create.isPending}
      onClose={onClose}
    >
      <form className="stack" onSubmit={submit}>
        {plan === null ? (
          <TextField {...fields} label="ID" name="id" hint="Lowercase letters, digits, and dashes." />
        ) : null}
        <TextField {...fields} label="Name" name="name" />
        <TextField
          {...fields}
          label="Currency"
          name="currency"
          hint="For example USD. Leave empty for no price."
        />
        <TextField {...fields} label="Monthly price" name="monthlyPrice" hint="For example 49.00." />
        <TextField {...fields} label="Included credits" name="includedCredits" />
        <TextField {...fields} label="Price per million additional credits" name="pricePerMillion" />
        <Limits {...fields} placeholder={plan === null ? 'Default' : 'Unchanged'} />
        <FormError problem={problem} />
        <DialogActions>
          <Button disabled={create.isPending} onClick={onClose}>
            Cancel
          </Button>
          <Button kind="primary" type="submit" busy={create.isPending}>
            {plan === null ? 'Create plan' : 'Review changes'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

type FieldsProps = Readonly<{
  draft: PlanDraft;
  edit: (more: Partial<PlanDraft>) => void;
  problem: unknown;
}>;

const priceFields = ['currency', 'monthlyPrice', 'includedCredits', 'pricePerMillion'];

function TextField({
  label,
  name,
  hint,
  draft,
  edit,
  problem,
}: FieldsProps & {
  label: string;
  name: 'id' | 'name' | 'currency' | 'monthlyPrice' | 'includedCredits' | 'pricePerMillion';
  hint?: string;
}) {
  const path = priceFields.includes(name) ? `price.${name}` : name;
  return (
    <Field label={label} name={path} hint={hint} problem={problem}>
      {(field) => (
        <input
          {...field}
          className="input"
          autoComplete="off"
          required={name === 'id'}
          value={draft[name]}
          onChange={(event) => edit({ [name]: event.target.value })}
        />
      )}
    </Field>
  );
}

function Limits({ draft, edit, problem, placeholder }: FieldsProps & { placeholder: string }) {
  return (
    <fieldset className="stack">
      <legend className="field-label">Limits</legend>
      <Checkbox checked={draft.quotaIsHard} onChange={(quotaIsHard) => edit({ quotaIsHard })}>
        Reject requests over the monthly limit
      </Checkbox>
      {numericLimits.map((limit) => (
        <Field key={limit} label={limitNames[limit]} name={`limits.${limit}`} problem={problem}>
          {(field) => (
            <input
              {...field}
              className="input"
              inputMode="numeric"
              autoComplete="off"
              placeholder={placeholder}
              value={draft.limits[limit] ?? ''}
              onChange={(event) => edit({ limits: { ...draft.limits, [limit]: event.target.value } })}
            />
          )}
        </Field>
      ))}
      <Field
        label="Credits per method"
        name="limits.prices"
        hint="One method per line with its credits. Unlisted methods cost the default."
        problem={problem}
      >
        {(field) => (
          <textarea
            {...field}
            className="input"
            rows={3}
            value={draft.prices}
            onChange={(event) => edit({ prices: event.target.value })}
          />
        )}
      </Field>
    </fieldset>
  );
}

function ConfirmEdit({
  plan,
  body,
  onUndo,
  onClose,
  onProblem,
}: {
  plan: Plan;
  body: Body;
  onUndo: () => void;
  onClose: () => void;
  onProblem: (problem: unknown) => void;
}) {
  const toast = useToast();
  const change = useChange('PATCH /plans/{plan}');
  const limits = { ...plan.limits, ...body.limits } as Plan['limits'];
  const differences = planDifferences(plan, {
    name: body.name ?? plan.name,
    price: body.price ?? null,
    limits,
  });
  const confirm = (): void =>
    change.mutate(
      { path: { plan: plan.id }, body },
      {
        onSuccess: () => {
          toast(`Plan ${plan.name} saved.`, 'good', onUndo);
          onClose();
        },
        onError: onProblem,
      },
    );
  if (differences.length === 0)
    return (
      <Dialog title={`Edit ${plan.name}`} size="s" onClose={onClose}>
        <p>No changes to save.</p>
      </Dialog>
    );
  return (
    <ConfirmDialog
      title={`Save changes to ${plan.name}?`}
      action="Save changes"
      problem={change.error}
      isBusy={change.isPending}
      onClose={onClose}
      onConfirm={confirm}
      choice={<Facts facts={differences} />}
    >
      This affects {formatNumberOf(plan.customers, 'customer')} and {formatNumberOf(plan.keys, 'API key')}{' '}
      within seconds. A new price applies to all of {formatMonth(Date.now())}.
    </ConfirmDialog>
  );
}
