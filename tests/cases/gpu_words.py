"""A machine that has all that NVIDIA's GPUs need."""

from packager.engines.environments import nvidia
from packager.engines.environments.cuda import locked_version
from packager.engines.environments.nvidia import Facts, Gpu, Module

WANTED = locked_version()

H100 = Gpu(name="NVIDIA H100", capability=(9, 0))

WHOLE = Facts(
    release="580.95.05",
    cuda=13000,
    gpus=(H100,),
    folders=("/site/nvidia/cu13/lib", "/site/tensorrt_libs"),
    libraries=dict.fromkeys((*nvidia.CUDA_LIBRARIES, *nvidia.TENSORRT_LIBRARIES), ""),
    modules={
        "onnxruntime": Module(version=WANTED),
        "numpy": Module(version="2.4"),
        "tensorrt": Module(version="10.16.1.11"),
        "tensorrt_rtx": Module(),
        "pycuda.driver": Module(),
        "cuda.core": Module(version="1.2.2"),
    },
    packages={"onnxruntime": "", "onnxruntime-gpu": WANTED},
    tensorrt=("libnvinfer.so.10",),
)
