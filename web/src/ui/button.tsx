import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';
import { Icon, type IconName } from './icon.tsx';

export type ButtonProps = Readonly<{
  /** `primary` once a page at most; `danger` for what cannot be undone. */
  kind?: 'primary' | 'plain' | 'quiet' | 'danger';
  size?: 'm' | 's';
  icon?: IconName;
  /** While something is under way: it cannot be pressed again and says so. */
  busy?: boolean;
  children?: ReactNode;
  ref?: Ref<HTMLButtonElement>;
}> &
  Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'>;

export function Button({
  kind = 'plain',
  size = 'm',
  icon,
  busy = false,
  disabled,
  children,
  className,
  type = 'button',
  ...rest
}: ButtonProps) {
  const classes = ['button', `button-${kind}`, size === 's' ? 'button-s' : '', className]
    .filter(Boolean)
    .join(' ');
  return (
    <button
      {...rest}
      type={type}
      className={classes}
      disabled={disabled === true || busy}
      aria-busy={busy || undefined}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button of a drawing alone; `label` is what it is called. */
export const IconButton = ({
  label,
  ...rest
}: Omit<ButtonProps, 'children'> & { label: string; icon: IconName }) => (
  <Button
    kind="quiet"
    {...rest}
    aria-label={label}
    title={label}
    className={`icon-button ${rest.className ?? ''}`}
  />
);
