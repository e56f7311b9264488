from pipeline.build.step import Failed
def report(build, step, failed):
    return "\n".join(map(str,failed.problems))
