import type { ChangeEvent } from 'react'
import { useState } from 'react'
import type { Order } from './orders'

/** Uploads a file. `fetch` does not tell how much of it was sent, so this is an XMLHttpRequest. */
function upload(path: string, file: File, onProgress: (fraction: number) => void): Promise<Order> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PUT', path)
    request.responseType = 'json'
    request.setRequestHeader('idp-client', '1')
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total)
    request.onload = () =>
      request.status === 200 ? resolve(request.response) : reject(new Error(`refused (${request.status})`))
    request.onerror = () => reject(new Error('the connection was lost'))
    request.send(file)
  })
}

interface Props {
  readonly order: Order
  readonly onUploaded: (order: Order) => void
}

/** Shows the receipt of an order, and uploads it. */
export function Receipt({ order, onUploaded }: Props) {
  const { id, receipt } = order
  const [progress, setProgress] = useState<number>()
  const [problem, setProblem] = useState('')

  async function onChange({ target }: ChangeEvent<HTMLInputElement>) {
    const file = target.files?.[0]
    if (!file) return
    setProblem('')
    setProgress(0)
    try {
      onUploaded(await upload(`/api/orders/${id}/receipt`, file, setProgress))
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'failed')
    } finally {
      setProgress(undefined)
    }
  }

  if (progress !== undefined)
    return <progress value={progress} aria-label={`Upload of the receipt of ${id}`} />
  return (
    <>
      {receipt > 0 && `${receipt} bytes `}
      {problem && <span role="alert">Upload: {problem} </span>}
      <input type="file" aria-label={`Receipt of ${id}`} onChange={onChange} />
    </>
  )
}
