import { EnvironmentOutlined } from '@ant-design/icons'
import { Form, type FormInstance } from 'antd'
import { useEffect, useMemo, useRef, useState } from 'react'
import { lengths } from '../../../src/vocabulary/values.ts'
import { type MapPoint, type Point, readPoint, swapped, writePoint } from '../map/point.ts'
import { PointMap } from '../map/point-map.tsx'
import { boxOf } from '../map/view.ts'
import { LimitedInput } from '../ui/form/limited.tsx'
import { Button } from '../ui/page/button.tsx'
import { useTexts } from './texts.ts'

/** The coordinates of a site: pasted as `longitude,latitude`, or picked on the map. */
export function CoordinatesField({ form }: { form: FormInstance }) {
  const t = useTexts()
  const [isMapOpen, setMapOpen] = useState(false)
  const text = (Form.useWatch('coordinates', form) as string | undefined) ?? ''
  const other = swapped(text)
  const points = useMemo(() => {
    const point = readPoint(text)
    return point === undefined ? [] : [{ id: 0, ...point }]
  }, [text])
  const enter = (coordinates: string) => form.setFields([{ name: 'coordinates', value: coordinates, errors: [] }])
  return (
    <>
      <Form.Item
        name="coordinates"
        label={t('coordinates')}
        // A comma pasted from a Chinese page may be full-width.
        normalize={(entered: string) => entered.replaceAll('，', ',').trim()}
        extra={t('coordinatesNote')}
        rules={[
          {
            validator: (_, entered: string | undefined) =>
              !entered || readPoint(entered) !== undefined
                ? Promise.resolve()
                : Promise.reject(swapped(entered) === undefined ? t('notCoordinates') : t('looksSwapped')),
          },
        ]}
      >
        <LimitedInput className="mono" most={lengths.coordinates} autoComplete="off" />
      </Form.Item>
      {other !== undefined && (
        <div role="status" className="map-here spaced">
          <div className="buttons">
            <span>{t('looksSwapped')}</span>
            <Button size="small" onClick={() => enter(other)}>
              {t('swap')}
            </Button>
            <span className="mono">{other}</span>
          </div>
        </div>
      )}
      <Button
        icon={<EnvironmentOutlined />}
        aria-expanded={isMapOpen}
        onClick={() => setMapOpen(!isMapOpen)}
        className="spaced"
      >
        {isMapOpen ? t('hideMap') : t('pick')}
      </Button>
      {isMapOpen && (
        <>
          <p className="flush-above spaced-little">{t('clickMap')}</p>
          <PickMap points={points} onPick={(point) => enter(writePoint(point))} />
        </>
      )}
    </>
  )
}

interface PickMapProps {
  points: MapPoint[]
  onPick: (point: Point) => void
}

/** Centres the map on typed coordinates. Picking does not move it, because a moving map is hard to aim at. */
function PickMap({ points, onPick }: PickMapProps) {
  const t = useTexts()
  const [area, setArea] = useState(() => boxOf(points))
  const picked = useRef('')
  useEffect(() => {
    const [point] = points
    if (point !== undefined && writePoint(point) !== picked.current) setArea(boxOf([point]))
  }, [points])
  function pick(point: Point): void {
    picked.current = writePoint(point)
    onPick(point)
  }
  return <PointMap label={t('mapToPick')} height={360} points={points} area={area} onPick={pick} />
}
