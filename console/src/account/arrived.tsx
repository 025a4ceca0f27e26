import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import { ForecourtError } from '../../../sdk/src/error.ts'
import { getSecondFactors } from '../../../src/people/second-factor/contract.ts'
import { completeSignOn } from '../../../src/people/sign-on/contract.ts'
import { call, readAnew, useRead } from '../api/api.ts'
import { Loading } from '../ui/page/loading.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { CameBack } from './came-back.tsx'
import { ShowFactor } from './show-factor.tsx'
import { confirmedPath } from './sign-on.ts'
import { useTexts } from './texts.ts'

/** The end of a link or a confirmation at the provider: completes it, or shows why it was refused. */
export function Arrived() {
  const [search] = useSearchParams()
  if (search.get('signOn') === 'complete') return <Completing />
  return search.get('refusal') === '10032' ? <FactorToo /> : <CameBack />
}

/** Completes in this session what came back without its cookie: browsers send it only with the service's own pages. */
function Completing() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [error, setError] = useState<Error>()
  const complete = useEffectEvent(async () => {
    try {
      const { returnTo } = (await call(completeSignOn, {})).data
      await readAnew(queries)
      await navigate(returnTo, { replace: true })
    } catch (refusal) {
      setError(refusal as Error)
    }
  })
  useEffect(() => void complete(), [])
  if (error === undefined) return <Loading />
  return error instanceof ForecourtError && error.code === 10032 ? <FactorToo /> : <RefusalAlert error={error} />
}

/** Asks for the second factor that makes a confirmation at the provider whole. */
function FactorToo() {
  const t = useTexts()
  const navigate = useNavigate()
  const { data: factors } = useRead(getSecondFactors, {})
  if (factors === undefined) return <Loading />
  return (
    <ShowFactor
      factors={factors}
      words={t('factorToo')}
      onShown={() => void navigate(confirmedPath, { replace: true })}
    />
  )
}
